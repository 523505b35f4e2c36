import { channel } from 'node:diagnostics_channel';
import { definePlugin, Host, KernelError, type Leasable } from '../../kernel/index.ts';
import { Methods } from '../gateway/contract.ts';
import { GuardedFiles } from '../tools-fs/contract.ts';
import { secretChannel, Secrets } from './contract.ts';
import { filesOf, programsOf } from './guarded.ts';
import { check } from './methods.ts';
import { providerOf, type Question, type SecretsConfig, Unavailable } from './provider.ts';
import { readSecret, reasonOf } from './reading.ts';
import { schema } from './schema.ts';

/** What programs answered, by provider and id. */
interface Answers extends Leasable {
  /** Aborts when nobody is left who could use an answer. */
  readonly closing: AbortSignal;
  readonly kept: Map<string, { readonly value: Promise<string>; readonly until: number }>;
}

const answers = (): Answers => {
  const end = new AbortController();
  return { kept: new Map(), closing: end.signal, resume() {}, [Symbol.asyncDispose]: async () => end.abort() };
};

export default definePlugin({
  name: 'secrets',
  description: 'Keys and tokens from the environment, files and programs, for one use at a time',
  config: { at: 'secrets', schema },
  needs: { host: Host },
  provides: [Secrets],
  async setup(ctx) {
    const { host } = ctx.needs;
    const config: SecretsConfig = ctx.config;
    const { kept, closing } = await ctx.lease('secrets:answers', answers);

    async function ask(question: Question): Promise<string> {
      const { fromProgram } = await import('./program.ts'); // before the look: two that ask at once get one answer
      const key = keyOf(question);
      const known = kept.get(key);
      if (known && known.until > Date.now()) return known.value;
      // Not with the signal of the first who asks: others wait for the same answer.
      const value = fromProgram(question, closing);
      const answer = { value, until: Date.now() + (config.refreshSeconds ?? 300) * 1000 };
      kept.set(key, answer);
      value.catch(() => kept.get(key) === answer && kept.delete(key));
      return value;
    }

    ctx.provide(Secrets, {
      async resolve(ref, path, run) {
        try {
          const value = await within(readSecret(ref, config, host.env, ask), run.signal);
          channel(secretChannel).publish(value);
          return value;
        } catch (cause) {
          const at = host.place(path) === path ? path : `${path} (${host.place(path)})`;
          throw new KernelError('SECRET_UNAVAILABLE', `${at}: ${reasonOf(cause)}`);
        }
      },
      forget(ref) {
        if (ref.source === 'exec') kept.delete(keyOf({ ...providerOf(ref, config), id: ref.id }));
      },
    });
    ctx.tap(GuardedFiles, ({ closed, fixed, programs }) => ({
      closed: [...closed, ...filesOf(config)],
      fixed,
      programs: [...programs, ...programsOf(config)],
    }));
    ctx.tap(Methods, (methods) => ({ ...methods, 'secrets.check': check }));
  },
});

const keyOf = ({ name, provider, id }: Omit<Question, 'env'>) => JSON.stringify([name, provider, id]);

/** Who is stopped waits no longer; a program's answer is still kept for others. */
async function within<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const stopped = Promise.withResolvers<never>();
  const stop = () => stopped.reject(new Unavailable('stopped'));
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop, { once: true });
  return Promise.race([work, stopped.promise]).finally(() => signal.removeEventListener('abort', stop));
}
