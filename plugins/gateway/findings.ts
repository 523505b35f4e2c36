import type { Run } from '../../kernel/index.ts';
import { type Finding, setting } from '../security/contract.ts';
import { Gateway } from './contract.ts';

const loopback = new Set(['127.0.0.1', 'localhost', '[::1]']);
const guessable =
  /^(.)\1*$|^(password|passwort|changeme|change-me|secret|token|letmein|admin|test|default|instar|openclaw|0?123456\d*)\W*\d*$/i;

/** Who has the token is the owner, so it is rated as a password is. */
export function gatewayFindings({ url, token }: Pick<Gateway, 'url' | 'token'>): readonly Finding[] {
  const path = 'gateway.auth.token';
  const mend = `instar config unset ${path}, and no INSTAR_GATEWAY_TOKEN in the environment: the next start makes a good one`;
  const isWeak = token.length < 8 || guessable.test(token);
  const isShort = isWeak || token.length < 24 || new Set(token).size < 8;
  const { hostname } = new URL(url);
  const weak = { code: 'token-weak', path, mend } as const;
  return [
    ...(isWeak
      ? [{ ...weak, severity: 'severe', message: 'the token of the gateway can be guessed, and who has it is the owner' } as const]
      : []),
    ...(isShort && !isWeak
      ? [
          {
            ...weak,
            severity: 'warning',
            message: `the token of the gateway has ${token.length} characters; 24 random ones are out of reach`,
          } as const,
        ]
      : []),
    ...(loopback.has(hostname)
      ? []
      : [
          {
            severity: isShort ? 'severe' : 'warning',
            code: 'bind-open',
            path: 'gateway.bind',
            message: `the gateway listens on ${hostname}, for other machines to connect`,
            mend: setting('gateway.bind', 'loopback'),
          } as const,
        ]),
  ];
}

export const findingsOf = (run: Run): readonly Finding[] => gatewayFindings(run.get(Gateway));
