/** It comes without types. */
declare module '@joplin/turndown-plugin-gfm' {
  export const gfm: (turndown: import('turndown')) => void;
}
