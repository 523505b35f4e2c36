import { channel } from './layers/channel.ts';
import { config } from './layers/config.ts';
import { confinement } from './layers/confinement.ts';
import { owner } from './layers/owner.ts';
import { provider } from './layers/provider.ts';
import type { Judged, Layer, Refusal, Standing } from './rules.ts';

/** The five of SPEC 3, in that order. */
export const layers: readonly Layer[] = [channel, provider, owner, config, confinement];

/** The first refusal of all layers. */
export function refusalOf(tool: Judged, standing: Standing): Refusal | undefined {
  for (const layer of layers) {
    const refusal = layer.judge(tool, standing);
    if (refusal) return refusal;
  }
  return undefined;
}

/** Once more at the call, with the arguments. */
export function callRefusalOf(tool: Judged, args: Readonly<Record<string, unknown>>, standing: Standing): Refusal | undefined {
  const refusal = refusalOf(tool, standing);
  if (refusal) return refusal;
  return layers.flatMap((layer) => layer.judgeCall?.(tool, args, standing) ?? [])[0];
}
