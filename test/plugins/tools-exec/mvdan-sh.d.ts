declare module 'mvdan-sh' {
  const sh: {
    readonly syntax: {
      NewParser(): { Parse(text: string, name: string): unknown };
      Walk(node: unknown, each: (node: unknown) => boolean): void;
      NodeType(node: unknown): string;
    };
  };
  export default sh;
}
