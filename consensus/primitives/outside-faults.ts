import { type FaultRow, later, sender, unblamed } from './fault-row.ts'

/** What goes wrong outside the chain: pages of strangers, providers, engines and models. */
export const OUTSIDE_FAULTS = {
  'web/refused': sender('invalid_request', 400, 'the address cannot be read: {reason}'),
  'web/unreachable': unblamed('upstream_failed', 502, '{host} cannot be reached: {reason}'),
  'web/timeout': unblamed('upstream_timeout', 504, '{host} did not answer in time'),
  'web/too-large': unblamed('upstream_failed', 502, 'the answer of {host} is longer than {bytesMax} bytes'),
  'web/busy': later('service_unavailable', 503, '{host} is not read now: {reason}'),
  'web/answer': unblamed('upstream_failed', 502, 'the answer of {host} cannot be used: {reason}'),

  'provider/none': later('upstream_failed', 502, 'no provider can be asked for {what}: {reason}'),
  'provider/unreachable': unblamed('upstream_failed', 502, '{provider} cannot be reached: {reason}'),
  'provider/timeout': unblamed('upstream_timeout', 504, '{provider} did not answer in time'),
  'provider/refused': unblamed('upstream_failed', 502, '{provider} refuses to answer: {reason}'),
  'provider/answer': unblamed('upstream_failed', 502, '{provider} gave an unusable answer: {reason}'),
  'provider/not-found': unblamed('upstream_failed', 502, '{provider} does not know {what}'),

  'engine/refused': unblamed('upstream_failed', 502, 'the content cannot be used: {reason}'),
  'engine/killed': unblamed('upstream_failed', 502, 'the work on the content exceeded its limits and was ended'),
  'engine/failed': unblamed('upstream_failed', 502, 'the work on the content failed: {reason}'),

  'model/none': later('no_backend_available', 503, 'no model can be asked: {reason}'),
  'model/busy': later('rate_limit_exceeded', 429, 'every model is busy: {reason}'),
  'model/unreachable': unblamed('upstream_failed', 502, '{backend} cannot be reached: {reason}'),
  'model/timeout': unblamed('upstream_timeout', 504, '{backend} did not answer in time'),
  'model/refused': unblamed('upstream_failed', 502, '{backend} refuses to answer: {reason}'),
  'model/cut': unblamed('upstream_failed', 502, 'the answer of {backend} ended in the middle'),
  'model/answer': unblamed('upstream_failed', 502, '{backend} gave an unusable answer: {reason}'),
} as const satisfies Record<string, FaultRow>
