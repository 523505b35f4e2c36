/** What a new workspace says of itself, to people and to the agent that is asked what this is. */
export const readme = `# The workspace of an Instar agent

Instar runs AI agents on your own machine. This folder is where one of them works: its file tools read and write here, and
its commands start here.

Files that the agent is shown with every message, if they are there:

| File | Holds |
|---|---|
| AGENTS.md | rules the agent follows |
| SOUL.md | its persona: tone, character, limits |
| USER.md | what it should know about you |
| IDENTITY.md, TOOLS.md, MEMORY.md | its name, notes on tools, what it should remember |

This file is yours: edit or delete it.
`;
