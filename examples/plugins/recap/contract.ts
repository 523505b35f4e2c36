/** What the method `recap.read` answers, oldest first. */
export interface Recap {
  readonly key: string;
  readonly said: readonly { readonly who: string; readonly text: string }[];
}
