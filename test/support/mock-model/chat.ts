import type { Answer } from './answer.ts';
import { follow, list, message, textOf, type Facts, type Json, type Wire } from './wire.ts';

/** `POST …/chat/completions` */
export const chat: Wire = {
  api: 'openai-completions',
  read(body) {
    const talk = follow();
    for (const each of list(body['messages'])) {
      const text = textOf(each['content']);
      talk.image(list(each['content']).filter((part) => part['type'] === 'image_url').length);
      if (each['role'] === 'user') talk.user(text);
      else if (each['role'] === 'assistant') talk.assistant(list(each['tool_calls']).length > 0);
      else if (each['role'] === 'tool') talk.result(text);
      else talk.system(text);
    }
    return talk.asked(list(body['tools']).map((tool) => (tool['function'] as Json | undefined)?.['name']));
  },
  streams: (body) => body['stream'] === true,
  frames(answer, facts) {
    const frame = (delta: Json, finish: string | null = null) => chunk(facts, [{ index: 0, delta, finish_reason: finish }]);
    const frames = [frame({ role: 'assistant', content: answer.calls.length > 0 ? null : '' })];
    if (answer.thinking) frames.push(frame({ reasoning_content: answer.thinking }));
    for (const delta of answer.deltas) frames.push(frame({ content: delta }));
    answer.calls.forEach(({ id, name, args }, index) => {
      frames.push(frame({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] }));
      const sent = answer.cut === 'arguments' ? args.slice(0, 6) : args;
      frames.push(frame({ tool_calls: [{ index, function: { arguments: sent } }] }));
    });
    if (answer.cut) return frames;
    frames.push(frame({}, finishOf(answer)));
    if (facts.usage) frames.push(chunk(facts, [], { usage: usage(facts) }));
    frames.push('data: [DONE]\n\n');
    return frames;
  },
  whole: (answer, facts) => ({
    ...base(facts, 'chat.completion'),
    choices: [{ index: 0, message: said(answer), finish_reason: finishOf(answer), logprobs: null }],
    usage: usage(facts),
  }),
  error: (status, overflow) => ({
    error: {
      message: message(status, overflow),
      type: status === 429 ? 'requests' : status >= 500 ? 'server_error' : 'invalid_request_error',
      param: null,
      code: overflow ? 'context_length_exceeded' : status === 429 ? 'rate_limit_exceeded' : null,
    },
  }),
};

const base = (facts: Facts, object: string) => ({ id: `chatcmpl-${facts.id}`, object, created: 1_700_000_000, model: facts.model });

const chunk = (facts: Facts, choices: readonly Json[], extra: Json = {}) =>
  `data: ${JSON.stringify({ ...base(facts, 'chat.completion.chunk'), choices, ...extra })}\n\n`;

const finishOf = (answer: Answer) => (answer.calls.length > 0 ? 'tool_calls' : 'stop');

const said = (answer: Answer) => ({
  role: 'assistant',
  content: answer.calls.length > 0 ? null : answer.deltas.join(''),
  ...(answer.thinking && { reasoning_content: answer.thinking }),
  ...(answer.calls.length > 0 && {
    tool_calls: answer.calls.map(({ id, name, args }) => ({ id, type: 'function', function: { name, arguments: args } })),
  }),
});

const usage = ({ input, output, cached }: Facts) => ({
  prompt_tokens: input,
  completion_tokens: output,
  total_tokens: input + output,
  prompt_tokens_details: { cached_tokens: cached },
});
