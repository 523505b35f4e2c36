import { definePlugin, GenerationSwapped, LoadConfig, StartReport, type Values } from '../../kernel/index.ts';
import { Methods } from '../gateway/contract.ts';
import { audit } from './audit.ts';

export default definePlugin({
  name: 'security',
  description: 'Rates the installation as it is: what is open, for whom, and the command that mends it',
  phase: 'config',
  setup(ctx) {
    // What is judged is the config that is live: a candidate may yet be rejected.
    let candidate: Values = {};
    let live: Values | undefined;
    // Last: after what rewrites the config of another product.
    ctx.tap(LoadConfig, (values) => (candidate = values), 1000);
    ctx.tap(GenerationSwapped, () => void (live = candidate));
    ctx.tap(Methods, (methods) => ({ ...methods, 'security.audit': (_params, _client, run) => audit(live ?? candidate, run) }));
    ctx.tap(
      StartReport,
      async (lines, run) => {
        const { findings, counts } = await audit(live ?? candidate, run);
        // Whoever wrote a limit counts on it: a start says that it does not hold.
        const idle = findings.filter(({ code }) => code === 'guard-idle').map(({ message, place }) => `${message} (${place})`);
        const { severe } = counts;
        const much = `${severe} severe ${severe === 1 ? 'finding' : 'findings'}; "instar security audit" shows what, and what mends it`;
        return [...lines, ...[...idle, ...(severe ? [much] : [])].map((value) => ({ label: 'security', value }))];
      },
      70,
    );
  },
});
