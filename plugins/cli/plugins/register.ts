/** Loaded by `node --import` before the tests of a user's plugin: our names lead to this installation there too. */
import { registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import { ownFile } from '../own-names.ts';

registerHooks({
  resolve(name, context, next) {
    const file = ownFile(name);
    return next(file ? pathToFileURL(file).href : name, context);
  },
});
