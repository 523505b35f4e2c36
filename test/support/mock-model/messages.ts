import { follow, list, message, textOf, type Facts, type Json, type Wire } from './wire.ts';

/** `POST …/messages`, Anthropic's. */
export const messages: Wire = {
  api: 'anthropic-messages',
  read(body) {
    const talk = follow();
    talk.system(textOf(body['system']));
    for (const each of list(body['messages'])) {
      const parts = typeof each['content'] === 'string' ? [{ type: 'text', text: each['content'] }] : list(each['content']);
      const typed = (type: string) => parts.filter((part: Json) => part['type'] === type);
      if (each['role'] === 'assistant') talk.assistant(typed('tool_use').length > 0);
      else {
        talk.image(typed('image').length);
        for (const result of typed('tool_result')) talk.result(textOf(result['content']));
        if (typed('tool_result').length === 0) talk.user(textOf(typed('text')));
      }
    }
    return talk.asked(list(body['tools']).map((tool) => tool['name']));
  },
  streams: (body) => body['stream'] === true,
  frames(answer, facts) {
    const start = { ...base(facts), content: [], stop_reason: null, usage: { ...usage(facts), output_tokens: 1 } };
    const frames = [frame('message_start', { message: start })];
    let index = 0;
    const block = (content_block: Json, deltas: readonly Json[], open = false) => {
      frames.push(frame('content_block_start', { index, content_block }));
      for (const delta of deltas) frames.push(frame('content_block_delta', { index, delta }));
      if (!open) frames.push(frame('content_block_stop', { index }));
      index++;
    };
    if (answer.thinking) {
      const deltas = [
        { type: 'thinking_delta', thinking: answer.thinking },
        { type: 'signature_delta', signature: 'signed' },
      ];
      block({ type: 'thinking', thinking: '', signature: '' }, deltas);
    }
    const texts = answer.deltas.map((text) => ({ type: 'text_delta', text }));
    if (texts.length > 0) block({ type: 'text', text: '' }, texts, answer.cut === 'text');
    for (const { id, name, args } of answer.calls) {
      const partial_json = answer.cut === 'arguments' ? args.slice(0, 6) : args;
      const deltas = [{ type: 'input_json_delta', partial_json }];
      block({ type: 'tool_use', id: id.replace('call', 'toolu'), name, input: {} }, deltas, answer.cut === 'arguments');
    }
    if (answer.cut) return frames;
    const delta = { stop_reason: answer.calls.length > 0 ? 'tool_use' : 'end_turn', stop_sequence: null };
    frames.push(frame('message_delta', { delta, usage: { output_tokens: facts.output } }), frame('message_stop', {}));
    return frames;
  },
  whole: (answer, facts) => ({
    ...base(facts),
    content:
      answer.calls.length > 0
        ? answer.calls.map(({ id, name, args }) => ({ type: 'tool_use', id, name, input: JSON.parse(args) as unknown }))
        : [{ type: 'text', text: answer.deltas.join('') }],
    stop_reason: answer.calls.length > 0 ? 'tool_use' : 'end_turn',
    stop_sequence: null,
    usage: usage(facts),
  }),
  error: (status, overflow) => ({
    type: 'error',
    error: {
      type: kinds[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error'),
      message: overflow ? 'prompt is too long: 210000 tokens > 200000 maximum' : message(status, false),
    },
    request_id: 'req_mock',
  }),
};

const kinds: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  529: 'overloaded_error',
};

const frame = (type: string, data: Json) => `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;

const base = (facts: Facts) => ({ id: `msg_${facts.id}`, type: 'message', role: 'assistant', model: facts.model });

const usage = ({ input, output, cached }: Facts) => ({
  input_tokens: input - cached,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: cached,
  output_tokens: output,
});
