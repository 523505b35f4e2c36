import { definePlugin, PromptSections } from 'instar';

export default definePlugin({
  name: 'manners',
  description: 'A prompt section: how to talk, by the channel that asks',
  config: {
    schema: {
      type: 'object',
      additionalProperties: false,
      properties: {
        channels: {
          type: 'object',
          additionalProperties: { type: 'string' },
          default: { terminal: 'You are read in a terminal: plain text, short lines, no tables.' },
          description: 'What the model is told, by the name of the channel',
        },
      },
    },
  },
  setup(ctx) {
    const { channels } = ctx.config;
    // Kept for each Subject, so that the prompt is the same byte by byte: a tap depends on nothing else.
    ctx.tap(PromptSections, (sections, { subject }) => {
      const text = channels[subject.channel ?? ''];
      return text ? [...sections, { id: 'manners', text }] : sections;
    });
  },
});
