import { type FaultRow, later, sender, unblamed } from './fault-row.ts'

/** The detail `param` names the field of the request at fault. */
export const CHAT_FAULTS = {
  'chat/off': sender('this node has no chat platform'),
  'chat/invalid-key': sender('the API key is not valid here: {reason}'),
  'chat/forbidden': sender('this is not allowed: {reason}'),
  'chat/model-not-found': sender('there is no model {model} here; there are {models}'),
  'chat/model-elsewhere': sender('{model} is for {paths}; chats are for {models}'),
  'chat/invalid-request': sender('{param}: {reason}'),
  'chat/unsupported': sender('{param} is not supported: {reason}'),
  'chat/context-length': sender(
    'the conversation has about {tokens} tokens; {model} takes {window}, {bound}, with room for the answer',
  ),
  'chat/window-full': unblamed('the text does not fit the context window of the models'),
  'chat/unjudged': unblamed('not evaluated: the verdict cannot be read'),
  'chat/schema': unblamed('no answer followed the schema of response_format: {reason}'),
  'chat/rate-limited': later('{what} is used up; try again in {seconds} seconds'),
  'chat/busy': later('every model is busy; try again in {seconds} seconds'),
  'chat/no-backend': later('{model} cannot answer now: {reason}; GET /api/v1/info/models says which models can'),
  'chat/refused': sender('the model behind {model} does not take this request'),
  'chat/upstream': unblamed('the model behind {model} failed: {reason}'),
  'chat/timeout': unblamed('the model behind {model} did not answer in time'),
  'chat/stopping': later('this node is stopping'),
  'chat/aborted': unblamed('the caller went away'),
  'chat/no-key': sender('there is no key {id}'),
  'chat/keys-full': sender('there are {max} keys already; revoke one first'),
  'chat/no-room': later('this node keeps {max} keys and takes no more now'),
  'chat/keys-damaged': unblamed('keys of the chat: {reason}'),
  'chat/sign-in': sender('you are not signed in: {reason}'),
} as const satisfies Record<string, FaultRow>
