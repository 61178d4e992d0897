import { type FaultRow, later, sender, unblamed } from './fault-row.ts'

/** What goes wrong with chats and their keys. `param` names the field of the request that is to blame, null where none is. */
export const CHAT_FAULTS = {
  'chat/off': sender('chat_disabled', 404, 'this node has no chat platform'),
  'chat/invalid-key': sender('invalid_api_key', 401, 'the API key is not valid here: {reason}'),
  'chat/forbidden': sender('permission_denied', 403, 'this is not allowed: {reason}'),
  'chat/model-not-found': sender('model_not_found', 404, 'there is no model {model} here; there are {models}'),
  'chat/model-elsewhere': sender('model_not_found', 404, '{model} is for {paths}; chats are for {models}'),
  'chat/invalid-request': sender('invalid_value', 400, '{param}: {reason}'),
  'chat/unsupported': sender('unsupported_parameter', 400, '{param} is not supported: {reason}'),
  'chat/context-length': sender(
    'context_length_exceeded',
    400,
    'the conversation has about {tokens} tokens; {model} takes {window}, {bound}, with room for the answer',
  ),
  'chat/window-full': unblamed('window_full', 500, 'there is no room for it in the window of the models'),
  'chat/unjudged': unblamed('not_evaluated', 500, 'not evaluated: the verdict cannot be read'),
  'chat/schema': unblamed('schema_not_met', 422, 'no answer followed the schema of response_format: {reason}'),
  'chat/rate-limited': later('rate_limit_exceeded', 429, '{what} is used up; try again in {seconds} seconds'),
  'chat/busy': later('rate_limit_exceeded', 429, 'every model is busy; try again in {seconds} seconds'),
  'chat/no-backend': later(
    'no_backend_available',
    503,
    '{model} cannot answer now: {reason}; GET /api/v1/info/models says which models can',
  ),
  'chat/refused': sender('request_refused', 400, 'the model behind {model} does not take this request'),
  'chat/upstream': unblamed('upstream_error', 502, 'the model behind {model} failed: {reason}'),
  'chat/timeout': unblamed('upstream_timeout', 504, 'the model behind {model} did not answer in time'),
  'chat/stopping': later('node_stopping', 503, 'this node is stopping'),
  'chat/aborted': unblamed('request_aborted', 499, 'the caller went away'),
  'chat/no-key': sender('key_not_found', 404, 'there is no key {id}'),
  'chat/keys-full': sender('keys_limit_reached', 409, 'there are {max} keys already; revoke one first'),
  'chat/no-room': later('no_room_for_keys', 503, 'this node keeps {max} keys and takes no more now'),
  'chat/keys-damaged': unblamed('keys_damaged', 500, 'keys of the chat: {reason}'),
  'chat/sign-in': sender('sign_in_failed', 401, 'you are not signed in: {reason}'),
} as const satisfies Record<string, FaultRow>
