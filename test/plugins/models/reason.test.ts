/* reason: one table of all providers' error answers. */
import { describe, expect, test } from 'vitest';
import type { AttemptFailure, FailureReason } from '../../../plugins/models/contract.ts';
import { reasonOf } from '../../../plugins/models/reason.ts';

/** Error answers in the shapes that the providers document and send: status, body, what they mean. `model`: this model's alone. */
type Row = readonly [status: number, body: object | string, reason: FailureReason, whose?: 'model'];

const openaiError = (message: string, type: string | null, code: string | number | null = null, param: string | null = null) => ({
  error: { message, type, param, code },
});
const anthropicError = (type: string, message: string) => ({
  type: 'error',
  error: { type, message },
  request_id: 'req_011CSHoEeqs5C35K2UUqR7Fy',
});
const googleError = (code: number, status: string, message: string, details: readonly object[] = []) => ({
  error: { code, message, status, details },
});
const azureError = (code: string, message: string) => ({ error: { code, message } });
const vllmError = (code: number, type: string, message: string) => ({ error: { message, type, param: null, code } });
const quota = 'You exceeded your current quota, please check your plan and billing details.';

const golden: Readonly<Record<string, { readonly baseUrl: string; readonly rows: readonly Row[] }>> = {
  openai: {
    baseUrl: 'https://api.openai.com/v1',
    rows: [
      [
        401,
        openaiError(
          'Incorrect API key provided: sk-abc***xyz. You can find your API key at https://platform.openai.com/account/api-keys.',
          'invalid_request_error',
          'invalid_api_key',
        ),
        'auth',
      ],
      [
        403,
        openaiError('Country, region, or territory not supported', 'request_forbidden', 'unsupported_country_region_territory'),
        'auth',
      ],
      [
        403,
        openaiError('Project `proj_x` does not have access to model `gpt-9`', 'invalid_request_error', 'model_not_found'),
        'model_not_found',
        'model',
      ],
      [
        404,
        openaiError('The model `gpt-9` does not exist or you do not have access to it.', 'invalid_request_error', 'model_not_found'),
        'model_not_found',
        'model',
      ],
      [
        429,
        openaiError(
          'Rate limit reached for gpt-5 in organization org-x on tokens per min (TPM): Limit 30000, Used 22999, Requested 12000. Please try again in 9.9s.',
          'tokens',
          'rate_limit_exceeded',
        ),
        'rate_limit',
        'model',
      ],
      [429, openaiError(quota, 'insufficient_quota', 'insufficient_quota'), 'billing'],
      [429, openaiError(quota, 'insufficient_quota', null), 'billing'],
      [429, openaiError('You have reached your billing hard limit.', 'invalid_request_error', 'billing_hard_limit_reached'), 'billing'],
      [
        400,
        openaiError(
          "This model's maximum context length is 128000 tokens. However, your messages resulted in 130011 tokens. Please reduce the length of the messages.",
          'invalid_request_error',
          'context_length_exceeded',
          'messages',
        ),
        'context_overflow',
        'model',
      ],
      [
        400,
        openaiError(
          "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.",
          'invalid_request_error',
          'unsupported_value',
          'temperature',
        ),
        'format',
        'model',
      ],
      [
        400,
        openaiError("Invalid 'messages[3].tool_calls[0].id': string too long.", 'invalid_request_error', null, 'messages[3]'),
        'format',
      ],
      [
        400,
        openaiError(
          'max_tokens is too large: 100000. This model supports at most 16384 completion tokens, whereas you provided 100000.',
          'invalid_request_error',
          null,
          'max_tokens',
        ),
        'format',
        'model',
      ],
      [500, openaiError('The server had an error while processing your request. Sorry about that!', 'server_error'), 'overloaded', 'model'],
      [503, openaiError('The engine is currently overloaded, please try again later', 'server_error'), 'overloaded', 'model'],
      [503, openaiError('Slow Down', 'server_error', 'slow_down'), 'overloaded', 'model'],
      [
        400,
        openaiError('The requested model is not supported.', 'invalid_request_error', 'model_not_supported'),
        'model_not_found',
        'model',
      ],
    ],
  },
  anthropic: {
    baseUrl: 'https://api.anthropic.com',
    rows: [
      [401, anthropicError('authentication_error', 'invalid x-api-key'), 'auth'],
      [403, anthropicError('permission_error', 'Your API key does not have permission to use the specified resource.'), 'auth'],
      [404, anthropicError('not_found_error', 'model: claude-9'), 'model_not_found', 'model'],
      [
        429,
        anthropicError('rate_limit_error', "This request would exceed your organization's rate limit of 40,000 input tokens per minute."),
        'rate_limit',
        'model',
      ],
      [
        400,
        anthropicError(
          'invalid_request_error',
          'Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.',
        ),
        'billing',
      ],
      [
        400,
        anthropicError(
          'invalid_request_error',
          'You have reached your specified API usage limits. You will regain access on 2026-12-01 at 00:00 UTC.',
        ),
        'billing',
      ],
      [402, anthropicError('billing_error', 'There is an issue with your billing or payment information.'), 'billing'],
      [400, anthropicError('invalid_request_error', 'prompt is too long: 209303 tokens > 200000 maximum'), 'context_overflow', 'model'],
      [
        400,
        anthropicError('invalid_request_error', 'input length and `max_tokens` exceed context limit: 195000 + 8192 > 200000'),
        'context_overflow',
        'model',
      ],
      [413, anthropicError('request_too_large', 'Request exceeds the maximum allowed number of bytes.'), 'context_overflow', 'model'],
      [
        400,
        anthropicError(
          'invalid_request_error',
          'messages.2: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_01',
        ),
        'format',
      ],
      [500, anthropicError('api_error', 'Internal server error'), 'overloaded', 'model'],
      [504, anthropicError('timeout_error', 'The request timed out.'), 'timeout', 'model'],
      [529, anthropicError('overloaded_error', 'Overloaded'), 'overloaded', 'model'],
    ],
  },
  google: {
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
    rows: [
      [
        400,
        googleError(400, 'INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.', [
          { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID', domain: 'googleapis.com' },
        ]),
        'auth',
      ],
      [403, googleError(403, 'PERMISSION_DENIED', "Method doesn't allow unregistered callers."), 'auth'],
      [400, googleError(400, 'FAILED_PRECONDITION', 'User location is not supported for the API use.'), 'auth'],
      [
        404,
        googleError(404, 'NOT_FOUND', 'models/gemini-9 is not found for API version v1beta, or is not supported for generateContent.'),
        'model_not_found',
        'model',
      ],
      [
        429,
        googleError(
          429,
          'RESOURCE_EXHAUSTED',
          `${quota} For more information on this error, head to: https://ai.google.dev/gemini-api/docs/rate-limits.`,
          [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '20s' }],
        ),
        'rate_limit',
        'model',
      ],
      [429, [googleError(429, 'RESOURCE_EXHAUSTED', 'Resource has been exhausted (e.g. check quota).')], 'rate_limit', 'model'],
      [429, googleError(429, 'RESOURCE_EXHAUSTED', 'Your prepayment credits are depleted.'), 'billing'],
      [
        400,
        googleError(400, 'INVALID_ARGUMENT', 'The input token count (1200293) exceeds the maximum number of tokens allowed (1048576).'),
        'context_overflow',
        'model',
      ],
      [400, googleError(400, 'INVALID_ARGUMENT', 'Please ensure that function call turn comes immediately after a user turn.'), 'format'],
      [500, googleError(500, 'INTERNAL', 'An internal error has occurred.'), 'overloaded', 'model'],
      [503, googleError(503, 'UNAVAILABLE', 'The model is overloaded. Please try again later.'), 'overloaded', 'model'],
      [504, googleError(504, 'DEADLINE_EXCEEDED', 'The request timed out. Please try again.'), 'timeout', 'model'],
    ],
  },
  bedrock: {
    baseUrl: 'https://bedrock-runtime.us-east-1.amazonaws.com',
    rows: [
      [429, { __type: 'ThrottlingException', message: 'Too many tokens, please wait before trying again.' }, 'rate_limit', 'model'],
      [
        400,
        { __type: 'com.amazon.coral.service#ThrottlingException', message: 'Too many requests, please wait before trying again.' },
        'rate_limit',
        'model',
      ],
      [403, { message: 'The security token included in the request is invalid.', __type: 'UnrecognizedClientException' }, 'auth'],
      [
        403,
        { message: "You don't have access to the model with the specified model ID.", __type: 'AccessDeniedException' },
        'model_not_found',
        'model',
      ],
      [400, { __type: 'ValidationException', message: 'Input is too long for requested model.' }, 'context_overflow', 'model'],
      [400, { __type: 'ValidationException', message: 'The provided model identifier is invalid.' }, 'model_not_found', 'model'],
      [
        400,
        {
          message:
            'Invocation of model ID anthropic.claude-sonnet-4 with on-demand throughput isn’t supported. Retry your request with the ID or ARN of an inference profile that contains this model.',
        },
        'model_not_found',
        'model',
      ],
      [400, { message: 'The maximum tokens you requested exceeds the model limit of 32768' }, 'format', 'model'],
      [400, { __type: 'ValidationException', message: 'A conversation must start with a user message.' }, 'format'],
      [408, { __type: 'ModelTimeoutException', message: 'The request took too long to process.' }, 'timeout', 'model'],
      [424, { __type: 'ModelStreamErrorException', message: 'An error occurred while streaming the response.' }, 'overloaded', 'model'],
      [503, { __type: 'ServiceUnavailableException', message: 'Bedrock is unable to process your request.' }, 'overloaded', 'model'],
      [
        404,
        { __type: 'ResourceNotFoundException', message: 'This model version has reached the end of its life.' },
        'model_not_found',
        'model',
      ],
    ],
  },
  azure: {
    baseUrl: 'https://me.openai.azure.com/openai/v1',
    rows: [
      [401, azureError('401', 'Access denied due to invalid subscription key or wrong API endpoint.'), 'auth'],
      [401, azureError('PermissionDenied', 'The principal lacks the required data action.'), 'auth'],
      [
        404,
        azureError(
          'DeploymentNotFound',
          'The API deployment for this resource does not exist. If you created the deployment within the last 5 minutes, please wait a moment and try again.',
        ),
        'model_not_found',
        'model',
      ],
      [
        429,
        azureError(
          '429',
          'Requests to the ChatCompletions_Create Operation under Azure OpenAI API have exceeded call rate limit of your current pricing tier. Please retry after 6 seconds.',
        ),
        'rate_limit',
        'model',
      ],
      [429, azureError('RateLimitReached', 'Your requests to gpt-5 have exceeded token rate limit.'), 'rate_limit', 'model'],
      [
        400,
        {
          error: {
            message: "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
            type: null,
            param: 'prompt',
            code: 'content_filter',
            status: 400,
          },
        },
        'format',
      ],
      [
        400,
        openaiError("This model's maximum context length is 8192 tokens.", 'invalid_request_error', 'context_length_exceeded'),
        'context_overflow',
        'model',
      ],
      [
        400,
        azureError('OperationNotSupported', 'The chatCompletion operation does not work with the specified model.'),
        'model_not_found',
        'model',
      ],
      [408, azureError('Timeout', 'The operation was timeout.'), 'timeout', 'model'],
      [503, azureError('ServiceUnavailable', 'The service is temporarily unable to process your request.'), 'overloaded', 'model'],
    ],
  },
  openrouter: {
    baseUrl: 'https://openrouter.ai/api/v1',
    rows: [
      [401, { error: { message: 'No auth credentials found', code: 401 } }, 'auth'],
      [
        402,
        {
          error: {
            message: 'Insufficient credits. Add more using https://openrouter.ai/settings/credits',
            code: 402,
            metadata: { limit_source: 'openrouter_credits' },
          },
        },
        'billing',
      ],
      [
        402,
        {
          error: {
            message: 'This request requires more credits, or fewer max_tokens. You requested up to 4096 tokens, but can only afford 4000.',
            code: 402,
          },
        },
        'billing',
        'model',
      ],
      [
        404,
        {
          error: {
            message: 'No endpoints found that support tool use. To learn more about provider routing, visit: https://openrouter.ai/docs',
            code: 404,
          },
        },
        'format',
        'model',
      ],
      [404, { error: { message: 'No endpoints found for some/model.', code: 404 } }, 'model_not_found', 'model'],
      [400, { error: { message: 'nope/nope is not a valid model ID', code: 400 } }, 'model_not_found', 'model'],
      [
        429,
        { error: { message: 'Rate limit exceeded: free-models-per-day', code: 429, metadata: { headers: { 'X-RateLimit-Limit': '50' } } } },
        'rate_limit',
      ],
      [
        429,
        {
          error: {
            message: 'Provider returned error',
            code: 429,
            metadata: { raw: 'x is temporarily rate-limited upstream', provider_name: 'Chutes' },
          },
        },
        'rate_limit',
        'model',
      ],
      [
        400,
        {
          error: {
            message: "This endpoint's maximum context length is 32768 tokens. However, you requested about 40000 tokens",
            code: 400,
          },
        },
        'context_overflow',
        'model',
      ],
      [502, { error: { message: 'Provider returned error', code: 502, metadata: { provider_name: 'x' } } }, 'overloaded', 'model'],
      [408, { error: { message: 'Request timed out', code: 408 } }, 'timeout', 'model'],
    ],
  },
  groq: {
    baseUrl: 'https://api.groq.com/openai/v1',
    rows: [
      [401, { error: { message: 'Invalid API Key', type: 'invalid_request_error', code: 'invalid_api_key' } }, 'auth'],
      [
        404,
        {
          error: {
            message: 'The model `x` does not exist or you do not have access to it.',
            type: 'invalid_request_error',
            code: 'model_not_found',
          },
        },
        'model_not_found',
        'model',
      ],
      [
        400,
        {
          error: {
            message: 'The model `mixtral-8x7b-32768` has been decommissioned and is no longer supported.',
            type: 'invalid_request_error',
            code: 'model_decommissioned',
          },
        },
        'model_not_found',
        'model',
      ],
      [
        413,
        {
          error: {
            message:
              'Request too large for model `llama-3.3-70b-versatile` in organization `org_x` service tier `on_demand` on tokens per minute (TPM): Limit 6000, Requested 14810, please reduce your message size and try again.',
            type: 'tokens',
            code: 'rate_limit_exceeded',
          },
        },
        'rate_limit',
        'model',
      ],
      [
        429,
        {
          error: {
            message:
              'Rate limit reached for model `x` on tokens per day (TPD): Limit 100000. Please try again in 9m38.016s. Need more tokens? Upgrade at https://console.groq.com/settings/billing',
            type: 'tokens',
            code: 'rate_limit_exceeded',
          },
        },
        'rate_limit',
        'model',
      ],
      [
        400,
        {
          error: {
            message: 'Please reduce the length of the messages or completion.',
            type: 'invalid_request_error',
            code: 'context_length_exceeded',
          },
        },
        'context_overflow',
        'model',
      ],
      [
        400,
        {
          error: {
            message: 'Failed to call a function. Please adjust your prompt.',
            type: 'invalid_request_error',
            code: 'tool_use_failed',
            failed_generation: '<x>',
          },
        },
        'format',
        'model',
      ],
      [503, { error: { message: 'Service Unavailable', type: 'internal_server_error' } }, 'overloaded', 'model'],
      [
        498,
        { error: { message: 'x is over capacity, flex tier capacity exceeded', type: 'capacity_exceeded', code: 'capacity_exceeded' } },
        'overloaded',
        'model',
      ],
    ],
  },
  mistral: {
    baseUrl: 'https://api.mistral.ai/v1',
    rows: [
      [401, { detail: 'Unauthorized' }, 'auth'],
      [
        429,
        { object: 'error', message: 'Rate limit exceeded', type: 'rate_limited', param: null, code: '1300', raw_status_code: 429 },
        'rate_limit',
      ],
      [
        429,
        {
          object: 'error',
          message: 'Service tier capacity exceeded for this model.',
          type: 'service_tier_capacity_exceeded',
          param: null,
          code: '3505',
        },
        'overloaded',
        'model',
      ],
      [
        400,
        { object: 'error', message: 'Invalid model: mistral-nope', type: 'invalid_model', param: null, code: '1500' },
        'model_not_found',
        'model',
      ],
      [
        400,
        {
          object: 'error',
          message: 'Prompt contains 41032 tokens and 0 draft tokens, too large for model with 32768 maximum context length',
          type: 'invalid_request_invalid_args',
          param: null,
          code: '3051',
        },
        'context_overflow',
        'model',
      ],
      [
        422,
        {
          object: 'error',
          message: { detail: [{ type: 'extra_forbidden', loc: ['body', 'max_completion_tokens'], msg: 'Extra inputs are not permitted' }] },
          type: 'invalid_request_error',
          param: null,
          code: null,
        },
        'format',
      ],
      [503, { object: 'error', message: 'Service unavailable.', type: 'unreachable_backend', code: '1100' }, 'overloaded', 'model'],
    ],
  },
  deepseek: {
    baseUrl: 'https://api.deepseek.com',
    rows: [
      [401, openaiError('Authentication Fails (no such user)', 'authentication_error', 'invalid_request_error'), 'auth'],
      [402, openaiError('Insufficient Balance', 'unknown_error', 'invalid_request_error'), 'billing'],
      [400, openaiError('Model Not Exist', 'invalid_request_error', 'invalid_request_error'), 'model_not_found', 'model'],
      [
        400,
        openaiError(
          "This model's maximum context length is 65536 tokens. However, you requested 70000 tokens (69000 in the messages, 1000 in the completion). Please reduce the length of the messages or completion.",
          'invalid_request_error',
          'invalid_request_error',
        ),
        'context_overflow',
        'model',
      ],
      [
        422,
        openaiError('Failed to deserialize the JSON body into the target type', 'invalid_request_error', 'invalid_request_error'),
        'format',
      ],
      [429, openaiError('Rate limit reached', 'rate_limit_error', null), 'rate_limit', 'model'],
      [503, openaiError('Service is too busy.', 'service_unavailable_error', 'service_unavailable_error'), 'overloaded', 'model'],
    ],
  },
  xai: {
    baseUrl: 'https://api.x.ai/v1',
    rows: [
      [
        400,
        {
          code: 'Client specified an invalid argument',
          error: 'Incorrect API key provided: na***ys. You can obtain an API key from https://console.x.ai.',
        },
        'auth',
      ],
      [
        403,
        {
          code: 'The caller does not have permission to execute the specified operation',
          error: "Your newly created teams doesn't have any credits yet. You can purchase credits on https://console.x.ai/team/x.",
        },
        'billing',
      ],
      [
        429,
        {
          code: 'Some resource has been exhausted',
          error: 'Your team x has either used all available credits or reached its monthly spending limit.',
        },
        'billing',
      ],
      [
        429,
        {
          code: 'Some resource has been exhausted',
          error: 'Too many requests for team x and model grok-4. Your current rate limit is 60 requests per minute.',
        },
        'rate_limit',
        'model',
      ],
      [
        404,
        {
          code: 'Some requested entity was not found',
          error: 'The model grok-9 does not exist or your team x does not have access to it.',
        },
        'model_not_found',
        'model',
      ],
      [
        400,
        {
          code: 'Client specified an invalid argument',
          error: "This model's maximum prompt length is 131072 but the request contains 150000 tokens.",
        },
        'context_overflow',
        'model',
      ],
      [400, { code: 'Client specified an invalid argument', error: 'Argument not supported on this model: presencePenalty' }, 'format'],
    ],
  },
  ollama: {
    baseUrl: 'http://127.0.0.1:11434/v1',
    rows: [
      [404, openaiError('model "llama9" not found, try pulling it first', 'api_error'), 'model_not_found', 'model'],
      [404, { error: "model 'llama9' not found" }, 'model_not_found', 'model'],
      [400, openaiError('registry.ollama.ai/library/gemma3:4b does not support tools', 'api_error'), 'format', 'model'],
      [503, { error: 'server busy, please try again.  maximum pending requests exceeded' }, 'overloaded', 'model'],
      [500, openaiError('model requires more system memory (8.4 GiB) than is available (5.2 GiB)', 'api_error'), 'overloaded', 'model'],
    ],
  },
  llamacpp: {
    baseUrl: 'http://127.0.0.1:8080/v1',
    rows: [
      [
        400,
        {
          error: {
            code: 400,
            message: 'the request exceeds the available context size. try increasing the context size or enable context shift',
            type: 'exceed_context_size_error',
            n_prompt_tokens: 14429,
            n_ctx: 8192,
          },
        },
        'context_overflow',
        'model',
      ],
      [
        500,
        { error: { code: 500, message: 'the request exceeds the available context size.', type: 'exceed_context_size_error' } },
        'context_overflow',
        'model',
      ],
      [503, { error: { code: 503, message: 'Loading model', type: 'unavailable_error' } }, 'overloaded', 'model'],
      [401, { error: { code: 401, message: 'Invalid API Key', type: 'authentication_error' } }, 'auth'],
      [
        500,
        { error: { code: 500, message: 'image input is not supported - hint: you may need to provide the mmproj', type: 'server_error' } },
        'format',
        'model',
      ],
      [400, { error: { code: 400, message: 'Missing "messages"', type: 'invalid_request_error' } }, 'format'],
    ],
  },
  vllm: {
    baseUrl: 'http://127.0.0.1:8000/v1',
    rows: [
      [
        400,
        {
          object: 'error',
          message:
            "This model's maximum context length is 10000 tokens. However, you requested 10515 tokens (2323 in the messages, 8192 in the completion).",
          type: 'BadRequestError',
          param: null,
          code: 400,
        },
        'context_overflow',
        'model',
      ],
      [
        404,
        { object: 'error', message: 'The model `x` does not exist.', type: 'NotFoundError', param: null, code: 404 },
        'model_not_found',
        'model',
      ],
      [
        400,
        vllmError(400, 'BadRequestError', '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'),
        'format',
        'model',
      ],
      [400, vllmError(400, 'BadRequestError', 'x is not a multimodal model'), 'format', 'model'],
      [401, { error: 'Unauthorized' }, 'auth'],
      [500, vllmError(500, 'InternalServerError', 'EngineCore encountered an issue.'), 'overloaded', 'model'],
      [400, vllmError(400, 'BadRequestError', 'messages: field required'), 'format'],
    ],
  },
  litellm: {
    baseUrl: 'http://127.0.0.1:4000',
    rows: [
      [
        400,
        openaiError(
          'litellm.ContextWindowExceededError: AnthropicError - {"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 209303 tokens > 200000 maximum"}}',
          null,
          '400',
        ),
        'context_overflow',
        'model',
      ],
      [400, openaiError('Budget has been exceeded! Current cost: 26.075, Max budget: 0.25', 'budget_exceeded', '400'), 'billing'],
      [429, openaiError('LiteLLM User: engineer-1, exceeded budget for model=x', 'budget_exceeded', '429'), 'billing'],
      [400, openaiError('ExceededBudget: End User=ishaan3 over budget. Spend=0.0008, Budget=0.0001', 'auth_error', 'None'), 'billing'],
      [401, openaiError('Authentication Error, Invalid proxy server token passed.', 'token_not_found_in_db', '401'), 'auth'],
      [429, openaiError('No deployments available for selected model, Try again in 60 seconds.', 'None', '429'), 'rate_limit', 'model'],
      [
        429,
        openaiError('litellm.RateLimitError: RateLimitError: OpenAIException - Rate limit reached', 'throttling_error', '429'),
        'rate_limit',
        'model',
      ],
      [
        400,
        openaiError(
          '/chat/completions: Invalid model name passed in model=nope. Call `/v1/models` to view available models',
          'invalid_request_error',
          '400',
        ),
        'model_not_found',
        'model',
      ],
      [408, openaiError('litellm.Timeout: APITimeoutError - Request timed out.', null, '408'), 'timeout', 'model'],
    ],
  },
};

describe.for(Object.entries(golden))('SPEC 7.3: what an error of %s means', ([provider, { baseUrl, rows }]) => {
  test.for(rows)('%i %j → %s', ([status, body, reason, whose]) => {
    const failure: AttemptFailure = {
      code: 'MODEL_HTTP',
      message: `HTTP ${status}`,
      status,
      body: typeof body === 'string' ? body : JSON.stringify(body),
    };
    expect(reasonOf({ provider, baseUrl }, failure)).toEqual({ reason, ...(whose && { perModel: true }) });
  });
});

const anywhere = { provider: 'mine', baseUrl: 'https://models.example/v1' };

test.for<[Partial<AttemptFailure>, FailureReason | undefined]>([
  [{ code: 'MODEL_ABORTED' }, undefined],
  [{ code: 'MODEL_TIMEOUT' }, 'timeout'],
  [{ code: 'MODEL_UNREACHABLE' }, 'timeout'],
  [{ code: 'MODEL_STREAM_CUT' }, 'timeout'],
  [{ code: 'MODEL_NO_KEY' }, 'auth'],
  [{ code: 'MODEL_REFUSED' }, 'format'],
  [{ code: 'ADAPTER_MISSING' }, 'model_not_found'],
  [{ code: 'ADAPTER_FAILED' }, 'unknown'],
  [{ code: 'MODEL_BAD_REPLY' }, 'unknown'],
  [{ status: 418, body: 'I am a teapot' }, 'unknown'],
  [{ status: 409, body: '{"error":{"message":"odd","type":"odd","code":17}}' }, 'unknown'],
  [{ status: 502, body: '<html>Bad Gateway</html>' }, 'overloaded'],
  [{ status: 429, body: '' }, 'rate_limit'],
  [{ status: 400, headers: { 'x-amzn-errortype': 'ThrottlingException:http://internal' }, body: '{"message":"slow"}' }, 'rate_limit'],
])('SPEC 7.3: %j is %s; what no row knows stays unknown, and a stop is nobody’s failure', ([failure, reason]) => {
  expect(reasonOf(anywhere, { code: 'MODEL_HTTP', message: 'x', ...failure }).reason).toBe(reason);
});

test('a provider is known by its address, whatever the config calls it', () => {
  const body = JSON.stringify({ error: 'Your team x has either used all available credits' });
  expect(reasonOf({ provider: 'elon', baseUrl: 'https://api.x.ai/v1' }, { code: 'MODEL_HTTP', message: '', status: 429, body })).toEqual({
    reason: 'billing',
  });
});
