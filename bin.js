#!/usr/bin/env node
// Plain JavaScript that Node 18 can parse: it must live to say which Node is needed.
import { existsSync } from 'node:fs';
import module from 'node:module';

const needed = 24;

if (Number.parseInt(process.versions.node, 10) < needed) {
  console.error(`instar needs Node ${needed} or newer, this is ${process.version}: use "npm start" in a clone, or install Node ${needed}`);
  process.exitCode = 1;
} else {
  module.enableCompileCache();
  // A clone runs its sources; a package holds only dist, since Node strips no types under node_modules.
  const [root, extension] = existsSync(new URL('kernel/', import.meta.url)) ? ['.', 'ts'] : ['./dist', 'js'];
  const { host } = await import(`${root}/kernel/host/entry.${extension}`);
  const { main } = await import(`${root}/plugins/cli/main.${extension}`);
  process.exitCode = await main(process.argv.slice(2), host);
}
