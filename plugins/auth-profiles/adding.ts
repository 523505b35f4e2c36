import { messageOf, type Run } from '../../kernel/index.ts';
import { Agents } from '../agents/contract.ts';
import { refusal } from '../gateway/contract.ts';
import { Models } from '../models/contract.ts';
import { type Facts, profilesOf } from './standing.ts';

/** The provider's own key that a first profile takes the place of. Refuses a provider that nobody knows: no model could ever use its key. */
export async function ownKeyOf(run: Run, provider: string, facts: Facts): Promise<string | undefined> {
  const isFirst = profilesOf(provider, facts).every(({ origin }) => origin === 'implicit');
  const told = await run.find(Models)?.provider(run, provider);
  if (!told || told.isKnown || !isFirst) return isFirst ? told?.ownKey : undefined;
  const cure = told.near ? `did you mean "${told.near}"?` : `known without a block: ${told.known.join(', ')}`;
  throw refusal(404, 'AUTH_PROVIDER_UNKNOWN', `there is no provider "${provider}" in models.providers; ${cure}`);
}

/** What a person should know once a key was added: what it replaces, and what is still to be done before a turn uses it. */
export async function notesOf(run: Run, provider: string, ownKey: string | undefined): Promise<readonly string[]> {
  const gone = ownKey ? [`the key in ${ownKey} is no longer used while ${provider} has profiles; add it as one to keep it in turn`] : [];
  const [models, agents] = [run.find(Models), run.find(Agents)];
  if (!models || !agents) return gone;
  const chosen = await models.choose(run, agents.defaultId).then(({ model }) => `${model.provider}/${model.id}`, messageOf);
  const next = chosen.startsWith(`${provider}/`)
    ? `agent "${agents.defaultId}" answers with ${chosen}`
    : `agent "${agents.defaultId}" goes on with ${chosen}; to change that: instar config set agents.defaults.model ${provider}/MODEL`;
  return [...gone, next];
}
