import { openEvents } from '../event-stream.ts'
import { fieldsOf, type Transport } from '../http.ts'
import { errorOfFault } from './refusals.ts'
import type { EventOptions, NodeEvent } from './shapes.ts'
import { pause } from './waiting.ts'

const RETRY_MS = { least: 500, most: 30_000 }

/**
 * Events of a node until the signal ends them. A lost connection is opened again after the last event. Errors: the node's refusal, as long
 * as there is no event to continue after; the last failure after `attemptsMax` tries in a row.
 */
export async function* followEvents(
  baseUrl: string,
  { fetch, signal: ended }: Transport,
  { lastEventId, types, signal, attemptsMax = Number.POSITIVE_INFINITY }: EventOptions,
): AsyncGenerator<NodeEvent, void, undefined> {
  const over = new AbortController()
  const all = AbortSignal.any([over.signal, ...[ended, signal].filter((each) => each !== undefined)])
  let [last, failures, waitMs] = [lastEventId, 0, RETRY_MS.least]
  const path = `/api/v1/events${types === undefined ? '' : `?types=${types.map(encodeURIComponent).join()}`}`
  try {
    while (!all.aborted) {
      const from = last === undefined ? {} : { lastEventId: last }
      const opened = await openEvents(baseUrl, path, all, { ...(fetch && { fetch }), ...from })
      if (all.aborted) return
      if (!opened.ok) {
        failures += 1
        const isRefused = opened.fault.code !== 'cli/node-unreachable'
        if ((isRefused && last === undefined) || failures >= attemptsMax) throw errorOfFault(opened.fault)
      } else {
        for await (const { id, event, data } of opened.value) {
          ;[failures, waitMs] = [0, RETRY_MS.least]
          if (id !== '') last = id
          if (types === undefined || event === 'reset' || types.includes(event))
            yield { id, type: event, data: read(data) }
        }
      }
      await pause(waitMs, all)
      waitMs = Math.min(2 * waitMs, RETRY_MS.most)
    }
  } finally {
    over.abort()
  }
}

function read(data: string): NodeEvent['data'] {
  try {
    return fieldsOf(JSON.parse(data))
  } catch {
    return {}
  }
}
