import { definePlugin } from '../../kernel/index.ts';

/** The commands themselves are clients of a gateway (`main.ts`, `commands.json`); in a generation there is nothing to do. */
export default definePlugin({
  name: 'cli',
  description: 'The commands of the terminal: start, chat, agent, status, plugins, logs, doctor, stop',
  setup() {},
});
