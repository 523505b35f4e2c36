import { configureGlobal, readConfigureGlobal } from 'fast-check';
import { isWhole } from './series.ts';

/** `npm test` says the same each time: its property tests try the same cases. New ones are looked for by `npm run test:all`. */
if (!isWhole) configureGlobal({ ...readConfigureGlobal(), seed: 20_261_130 });
