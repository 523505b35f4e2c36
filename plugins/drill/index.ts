import { definePlugin } from '../../kernel/index.ts';

export default definePlugin({
  name: 'drill',
  description: 'Rehearses failures on command, away from the real providers',
  setup() {}, // its command is data: commands.json
});
