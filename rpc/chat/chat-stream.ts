import type { Fault } from '../../consensus/primitives/fault.ts'
import type { FeedOut, PlainAnswer } from '../server/answer.ts'
import type { Line } from './line.ts'

/** A chat that is streamed. `End` is what becomes of it. */
export interface ChatStream<End> {
  readonly line: Line
  readonly ended: Promise<End>
  /** The answer to a chat that ended before it began; null if it is streamed all the same. */
  readonly instead: (end: End) => PlainAnswer | Fault | null
  readonly headers: (hasBegun: boolean) => Readonly<Record<string, string>>
  /** The last events, and whether the answer is whole with them. */
  readonly last: (end: End) => { readonly events: string; readonly isWhole: boolean }
  /** Called once the reader has the answer, which takes memory until then. */
  readonly leave: () => void
}

/** Headers wait until an answer has begun: an earlier failure has its own HTTP status. */
export async function streamed<End>(stream: ChatStream<End>): Promise<PlainAnswer | Fault> {
  const { line, ended, instead, headers, last, leave } = stream
  const early = await Promise.race([line.opened, ended.then((end) => ({ end }))]).catch((error: unknown) => {
    leave()
    throw error
  })
  const other = early === 'opened' ? null : instead(early.end)
  if (other !== null) {
    leave()
    return other
  }
  const write = async (out: FeedOut): Promise<boolean> => {
    try {
      await line.attach(out)
      const end = await ended
      await line.rest()
      const { events, isWhole } = last(end)
      await out.write(events)
      return isWhole
    } finally {
      leave()
    }
  }
  return {
    feed: { headers: { ...headers(early === 'opened'), 'content-type': 'text/event-stream; charset=utf-8' }, write },
  }
}
