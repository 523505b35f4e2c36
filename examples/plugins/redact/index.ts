import { type Content, definePlugin } from 'instar';
import { AdmitMessage } from 'instar/contracts/turns';

export default definePlugin({
  name: 'redact',
  description: 'A message filter: hides card numbers, and refuses messages with words of its config',
  config: {
    schema: {
      type: 'object',
      additionalProperties: false,
      properties: {
        refuse: {
          type: 'array',
          items: { type: 'string', minLength: 1 },
          default: [],
          description: 'A message with one of these is not answered',
        },
      },
    },
  },
  setup(ctx) {
    const refused = ctx.config.refuse.map((word) => word.toLowerCase());
    // Asked of each message, by whichever door it came, before a transcript or a model sees it.
    ctx.tap(AdmitMessage, (message) => {
      const said = textOf(message.content).toLowerCase();
      const word = refused.find((one) => said.includes(one));
      if (word) return { ...message, refused: `Messages about "${word}" are not answered here.` };
      return { ...message, content: typeof message.content === 'string' ? hide(message.content) : message.content.map(hidePart) };
    });
  },
});

const textOf = (content: string | readonly Content[]) =>
  typeof content === 'string' ? content : content.map((part) => (part.type === 'text' ? part.text : '')).join('\n');

const hidePart = (part: Content): Content => (part.type === 'text' ? { ...part, text: hide(part.text) } : part);

const hide = (text: string) =>
  text.replace(/\b\d(?:[ -]?\d){12,18}\b/g, (found) => (isCard(found.replace(/\D/g, '')) ? '[card number]' : found));

/** By its check digit, so that other long numbers stay. */
function isCard(digits: string): boolean {
  const values = digits
    .split('')
    .toReversed()
    .map((digit, i) => (i % 2 ? (Number(digit) * 2) % 9 || Number(digit) : Number(digit)));
  return values.reduce((sum, value) => sum + value, 0) % 10 === 0;
}
