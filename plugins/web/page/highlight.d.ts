/** What the page uses of highlight.js, whose browser build has no types. */
declare const hljs: {
  getLanguage(name: string): object | undefined;
  highlight(code: string, options: { language: string; ignoreIllegals?: boolean }): { readonly value: string };
};
export default hljs;
