import { definePlugin, FilterPolicy } from 'instar';

const hour = { type: 'integer', minimum: 0, maximum: 24 } as const;

export default definePlugin({
  name: 'office-hours',
  description: 'A policy filter: some tools are offered in office hours only',
  config: {
    schema: {
      type: 'object',
      additionalProperties: false,
      properties: {
        from: { ...hour, default: 8, description: 'First hour, local time' },
        to: { ...hour, default: 18, description: 'The hour that is closed again' },
        tools: { type: 'array', items: { type: 'string' }, default: ['exec'], description: 'Names of the tools' },
      },
    },
  },
  setup(ctx) {
    const { from, to, tools } = ctx.config;
    const why = `is offered from ${from} to ${to} o'clock`;
    const isOpen = () => {
      const now = new Date().getHours();
      return now >= from && now < to;
    };
    ctx.tap(
      FilterPolicy,
      (offer) => {
        if (isOpen()) return offer;
        const closed = offer.tools.filter(({ name }) => tools.includes(name));
        const removed = closed.map(({ name: tool }) => ({ tool, why, rule: 'plugins.entries.office-hours.config' }));
        return { tools: offer.tools.filter((tool) => !closed.includes(tool)), removed: [...offer.removed, ...removed] };
      },
      // What a filter answers is kept for each Subject, until its version is another.
      { version: () => String(isOpen()) },
    );
  },
});
