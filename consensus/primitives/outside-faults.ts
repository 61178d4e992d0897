import { type FaultRow, later, sender, unblamed } from './fault-row.ts'

/** Faults outside the chain: web pages, providers, engines and models. */
export const OUTSIDE_FAULTS = {
  'web/refused': sender('the address cannot be read: {reason}'),
  'web/unreachable': unblamed('{host} cannot be reached: {reason}'),
  'web/timeout': unblamed('{host} did not answer in time'),
  'web/too-large': unblamed('the answer of {host} is longer than {bytesMax} bytes'),
  'web/busy': later('{host} is not read now: {reason}'),
  'web/answer': unblamed('the answer of {host} cannot be used: {reason}'),

  'provider/none': later('no provider can be asked for {what}: {reason}'),
  'provider/unreachable': unblamed('{provider} cannot be reached: {reason}'),
  'provider/timeout': unblamed('{provider} did not answer in time'),
  'provider/refused': unblamed('{provider} refuses to answer: {reason}'),
  'provider/answer': unblamed('{provider} gave an unusable answer: {reason}'),
  'provider/not-found': unblamed('{provider} does not know {what}'),

  'engine/refused': unblamed('the content cannot be used: {reason}'),
  'engine/killed': unblamed('the work on the content exceeded its limits and was ended'),
  'engine/failed': unblamed('the work on the content failed: {reason}'),

  'model/none': later('no model can be asked: {reason}'),
  'model/busy': later('every model is busy: {reason}'),
  'model/unreachable': unblamed('{backend} cannot be reached: {reason}'),
  'model/timeout': unblamed('{backend} did not answer in time'),
  'model/refused': unblamed('{backend} refuses to answer: {reason}'),
  'model/cut': unblamed('the answer of {backend} ended in the middle'),
  'model/answer': unblamed('{backend} gave an unusable answer: {reason}'),
} as const satisfies Record<string, FaultRow>
