import type { Clock } from '../../../consensus/chain/ports.ts'
import type { Result } from '../../../consensus/primitives/result.ts'
import type { Peer, Peers } from '../peers/peers.ts'
import { isChosen } from './candidates.ts'
import type { HeaderPage, HeaderWalk } from './header-walk.ts'
import type { Signal } from './signal.ts'

/** What is needed to wait for a peer's first headers. */
export interface FirstPageDependencies {
  readonly peers: Peers
  readonly clock: Clock
  readonly changed: Signal
  readonly stopped: () => boolean
}

const LOOK_AGAIN_MS = 1_000
/** A peer that takes longer gives way. Chosen peers are few and get more time: a full page takes 5 s at one Mbit/s. */
const PATIENCE_MS = { chosen: 10_000, other: 5_000 }
/** Most further pages that are asked for while nothing new has come. They have room for all stored blocks that a peer can show. */
const KNOWN_PAGES_MAX = 3

/**
 * The first page with something new, or the last one that was asked for. The steps of the locator double, so a peer may begin with pages of
 * stored blocks. All pages together are waited for as long as one. Null if that is too long while there are other peers, or if the node
 * stops.
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
    // A page that was given up may fail later, when the store is closed. That failure is ignored.
    if (stopped() || (!came && slow)) return null
  }
  return page
}
