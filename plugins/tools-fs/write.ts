import { defineTool, text, type Tool } from '../../kernel/index.ts';
import { stageWrite } from './staged-file.ts';
import { fenceOf } from './workspace.ts';

export const write: Tool = defineTool({
  name: 'write',
  description: 'Write a whole file; makes missing folders, replaces what is there.',
  section: 'Files',
  parameters: {
    type: 'object',
    required: ['path', 'content'],
    additionalProperties: false,
    properties: {
      path: { type: 'string', minLength: 1, description: 'Relative to the workspace' },
      content: { type: 'string' },
    },
  },
  async execute({ path, content }, call) {
    await using staged = await stageWrite(await fenceOf(call), path, content, 'anything');
    call.signal.throwIfAborted();
    await staged.commit();
    return text(`${staged.replaces ? 'Replaced' : 'Created'} ${staged.name} (${Buffer.byteLength(content)} bytes)`);
  },
});
