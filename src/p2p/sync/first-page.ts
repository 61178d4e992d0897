import type { Clock } from '../../../consensus/chain/ports.ts'
import type { Result } from '../../../consensus/primitives/result.ts'
import type { Peer, Peers } from '../peers/peers.ts'
import { isChosen } from './candidates.ts'
import type { HeaderPage, HeaderWalk } from './header-walk.ts'
import type { Signal } from './signal.ts'

/** What a peer's first headers are waited for with. */
export interface FirstPageDependencies {
  readonly peers: Peers
  readonly clock: Clock
  /** Told whenever there is something to look at. */
  readonly changed: Signal
  readonly stopped: () => boolean
}

const LOOK_AGAIN_MS = 1_000
/** A peer that takes longer for its first headers gives way to others. The chosen are few, and a full page takes 5 s on a line of a Mbit/s. */
const PATIENCE_MS = { chosen: 10_000, other: 5_000 }
/** Pages of 2,000 headers that may hold nothing new: more than the blocks below a fork that can be followed, and its own. */
const KNOWN_PAGES_MAX = 3

/**
 * The first page with something new, or the last that was asked for. The steps of the locator double: behind the newest of its blocks that
 * a peer has may come pages of blocks that are stored here, below the fork and on the peer's branch. They are waited for
 * together no longer than one is; null where that is too long while others wait, or the node stops.
 */
export async function firstNew(
  walk: HeaderWalk,
  peer: Peer,
  means: FirstPageDependencies,
): Promise<Result<HeaderPage> | null> {
  let isOver = false
  const pages = async (): Promise<Result<HeaderPage>> => {
    let page = await walk.next({ claimed: true })
    for (let known = 1; known <= KNOWN_PAGES_MAX && !isOver; known++) {
      if (!page.ok || page.value.headers.length > 0 || !page.value.more) break
      page = await walk.next({ claimed: true })
    }
    return page
  }
  const first = await patiently(pages(), isChosen(peer) ? PATIENCE_MS.chosen : PATIENCE_MS.other, means)
  isOver = true
  return first
}

async function patiently(
  page: Promise<Result<HeaderPage>>,
  patienceMs: number,
  { peers, clock, changed, stopped }: FirstPageDependencies,
): Promise<Result<HeaderPage> | null> {
  const startedMs = clock.now()
  let came = false
  const note = (): void => {
    came = true
    changed.wake()
  }
  void page.then(note, note)
  while (!came) {
    await changed.wait(LOOK_AGAIN_MS)
    const slow = clock.now() - startedMs >= patienceMs && peers.list().length > 1
    // What it is checked with may be closed by then: a page that is given up fails unheard.
    if (stopped() || (!came && slow)) return null
  }
  return page
}
