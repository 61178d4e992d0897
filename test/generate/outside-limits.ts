import { PICTURES } from '../../marketplace/chat/platform.ts'
import { WAITING_MAX, WAITING_PER_PLACE } from '../../marketplace/models/admission.ts'
import { DOCUMENT_REQUEST_BYTES_MAX } from '../../marketplace/services/documents/exact-json.ts'
import { GATE_LIMITS } from '../../src/outbound/fetch-gate.ts'
import { STREAM_BYTES_MAX } from '../../src/outbound/models/chat-stream.ts'
import { BYTES_MAX as PAGES_KEPT_BYTES_MAX } from '../../src/outbound/page-cache.ts'
import { ASKING_MAX, KEPT_BYTES_MAX, KEPT_MAX } from '../../src/outbound/providers/provider-chain.ts'
import { BYTES_MAX as ROBOTS_BYTES_MAX } from '../../src/outbound/robots.ts'
import { HEADER_BYTES_MAX, REDIRECTS_MAX, TOTAL_MS } from '../../src/outbound/safe-fetch.ts'
import { HEAP_MB, LIMIT_MS } from '../../src/workers/engine-pool.ts'

/** Bounds of what services reach beside the chain: what, value, unit, where it stands. */
export const OUTSIDE_LIMITS: readonly (readonly [string, number | string, string, string])[] = [
  ['time for a page of a stranger, redirects and waiting included', TOTAL_MS, 'ms', 'outbound/safe-fetch.ts'],
  ['redirects that are followed', REDIRECTS_MAX, '', 'outbound/safe-fetch.ts'],
  ['headers of an answer of a stranger', HEADER_BYTES_MAX, 'bytes', 'outbound/safe-fetch.ts'],
  ['pages read at once', GATE_LIMITS.atOnceMax, '', 'outbound/fetch-gate.ts'],
  ['pages of one host read at once', GATE_LIMITS.perHostMax, '', 'outbound/fetch-gate.ts'],
  ['readers that wait for their turn', GATE_LIMITS.waitingMax, '', 'outbound/fetch-gate.ts'],
  ['images of chats read from the web at once', PICTURES.atOnce, '', 'chat/platform.ts'],
  ['images read at once for one who chats', PICTURES.perWho, '', 'chat/platform.ts'],
  ['images of chats of one host read at once', PICTURES.perWhat, '', 'chat/platform.ts'],
  ['robots.txt', ROBOTS_BYTES_MAX, 'bytes', 'outbound/robots.ts'],
  ['pages kept', PAGES_KEPT_BYTES_MAX, 'bytes', 'outbound/page-cache.ts'],
  ['memory of an engine process', HEAP_MB, 'MiB of heap', 'workers/engine-pool.ts'],
  ...Object.entries(LIMIT_MS).map(([task, ms]) => [`work on ${task}`, ms, 'ms', 'workers/engine-pool.ts'] as const),
  ['request of a document', DOCUMENT_REQUEST_BYTES_MAX, 'bytes', 'services/documents/exact-json.ts'],
  ['answers of providers kept, of each kind', KEPT_MAX, '', 'outbound/providers/provider-chain.ts'],
  ['answers of providers kept, of each kind', KEPT_BYTES_MAX, 'bytes', 'outbound/providers/provider-chain.ts'],
  ['different questions to providers of a kind at once', ASKING_MAX, '', 'outbound/providers/provider-chain.ts'],
  ['calls that wait for a place at a model backend, for each place', WAITING_PER_PLACE, '', 'models/admission.ts'],
  ['calls that wait for a model backend', WAITING_MAX, '', 'models/admission.ts'],
  ['stream of a model', STREAM_BYTES_MAX, 'bytes', 'outbound/models/chat-stream.ts'],
]
