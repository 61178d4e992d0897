import { WAITING_MAX, WAITING_PER_PLACE } from '../../marketplace/chat/models/admission.ts'
import { PICTURES } from '../../marketplace/chat/platform.ts'
import { DOCUMENT_REQUEST_BYTES_MAX } from '../../marketplace/services/documents/exact-json.ts'
import { GATE_LIMITS } from '../../src/adapters/fetch-gate.ts'
import { BYTES_MAX as PAGES_KEPT_BYTES_MAX } from '../../src/adapters/page-cache.ts'
import { ASKING_MAX, KEPT_BYTES_MAX, KEPT_MAX } from '../../src/adapters/providers/provider-chain.ts'
import { BYTES_MAX as ROBOTS_BYTES_MAX } from '../../src/adapters/robots.ts'
import { HEADER_BYTES_MAX, REDIRECTS_MAX, TOTAL_MS } from '../../src/adapters/safe-fetch.ts'
import { STREAM_BYTES_MAX } from '../../src/chat/backends/chat-stream.ts'
import { HEAP_MB, LIMIT_MS } from '../../src/workers/engine-pool.ts'

/** Bounds of services' access to the outside: name, value, unit, source file. */
export const OUTSIDE_LIMITS: readonly (readonly [string, number | string, string, string])[] = [
  ['time for a page of a foreign host, with redirects and waiting', TOTAL_MS, 'ms', 'src/adapters/safe-fetch.ts'],
  ['redirects that are followed', REDIRECTS_MAX, '', 'src/adapters/safe-fetch.ts'],
  ['headers of an answer of a foreign host', HEADER_BYTES_MAX, 'bytes', 'src/adapters/safe-fetch.ts'],
  ['pages read at once', GATE_LIMITS.atOnceMax, '', 'src/adapters/fetch-gate.ts'],
  ['pages of one host read at once', GATE_LIMITS.perHostMax, '', 'src/adapters/fetch-gate.ts'],
  ['waiting readers', GATE_LIMITS.waitingMax, '', 'src/adapters/fetch-gate.ts'],
  ['images of chats read from the web at once', PICTURES.atOnce, '', 'marketplace/chat/platform.ts'],
  ['images read at once for one caller', PICTURES.perWho, '', 'marketplace/chat/platform.ts'],
  ['images of chats of one host read at once', PICTURES.perWhat, '', 'marketplace/chat/platform.ts'],
  ['robots.txt', ROBOTS_BYTES_MAX, 'bytes', 'src/adapters/robots.ts'],
  ['pages kept', PAGES_KEPT_BYTES_MAX, 'bytes', 'src/adapters/page-cache.ts'],
  ['memory of an engine process', HEAP_MB, 'MiB of heap', 'src/workers/engine-pool.ts'],
  ...Object.entries(LIMIT_MS).map(([task, ms]) => [`work on ${task}`, ms, 'ms', 'src/workers/engine-pool.ts'] as const),
  ['request of a document', DOCUMENT_REQUEST_BYTES_MAX, 'bytes', 'marketplace/services/documents/exact-json.ts'],
  ['answers of providers kept, of each kind', KEPT_MAX, '', 'src/adapters/providers/provider-chain.ts'],
  ['answers of providers kept, of each kind', KEPT_BYTES_MAX, 'bytes', 'src/adapters/providers/provider-chain.ts'],
  ['different questions to providers of a kind at once', ASKING_MAX, '', 'src/adapters/providers/provider-chain.ts'],
  [
    'waiting calls of a model backend, for each of its places',
    WAITING_PER_PLACE,
    '',
    'marketplace/chat/models/admission.ts',
  ],
  ['waiting calls of a model backend', WAITING_MAX, '', 'marketplace/chat/models/admission.ts'],
  ['stream of a model', STREAM_BYTES_MAX, 'bytes', 'src/chat/backends/chat-stream.ts'],
]
