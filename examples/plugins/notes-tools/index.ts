import { definePlugin, defineTool, RegisterTools, text } from 'instar';
import { Notes } from '../notes/contract.ts';

const remember = defineTool({
  name: 'remember',
  description: 'Keeps a note, for later conversations too',
  parameters: {
    type: 'object',
    additionalProperties: false,
    properties: { note: { type: 'string', minLength: 1, maxLength: 2000 } },
    required: ['note'],
  },
  async execute({ note }, { run }) {
    await run.get(Notes).add(note);
    return text('noted');
  },
});

const recall = defineTool({
  name: 'recall',
  description: 'Tells all notes, newest first',
  parameters: { type: 'object', additionalProperties: false },
  async execute(_args, { run }) {
    const notes = await run.get(Notes).list();
    return text(notes.map((note) => `${new Date(note.at).toISOString()} ${note.text}`).join('\n') || 'there are no notes');
  },
});

export default definePlugin({
  name: 'notes-tools',
  description: 'Two tools that use the service of the plugin notes',
  setup(ctx) {
    // Asked late, not by `needs`: an edit of notes rebuilds nothing here, and without notes there are no tools.
    ctx.tap(RegisterTools, (tools, run) => (run.find(Notes) ? [...tools, remember, recall] : tools));
  },
});
