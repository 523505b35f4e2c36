/** What the method `status` answers: one plugin is live, one was left out, and an older generation still has a run. */
export const pluginStatus = (generation: number) => ({
  inspection: {
    generation,
    runs: 1,
    retiring: [{ generation: 5, runs: 1 }],
    leases: [{ key: 'approvals:pending', holders: 1 }],
    leftOut: [{ plugin: 'weather', code: 'SETUP_FAILED', why: 'WEATHER_KEY is not set; set it' }],
    instances: [
      {
        plugin: 'approvals',
        description: 'Asks a person',
        instance: 7,
        since: 4,
        source: 'plugins/approvals',
        required: false,
        needs: ['host'],
        provides: ['approvals'],
        leases: ['approvals:pending'],
        setupMs: 3,
        hooks: [{ hook: 'policy.decide', stage: 10 }],
      },
    ],
  },
  report: [{ label: 'Page', value: 'http://127.0.0.1:1/#token=secret' }],
  active: [],
});
