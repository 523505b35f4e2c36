/** Beside its name the plugin need not be named once more. */
export const messageAfterName = (message: string, plugin: string) =>
  message.startsWith(`plugin "${plugin}" `) ? message.slice(`plugin "${plugin}" `.length) : message;

/** A lease may fail when no instance holds it any more; `owners` knows who did. */
export const pluginOfLease = (message: string, owners: ReadonlyMap<string, string>) =>
  owners.get(/^lease "(.+)" did not close/.exec(message)?.[1] ?? '');
