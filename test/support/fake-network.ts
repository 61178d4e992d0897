import { ok, type Result } from '../../consensus/primitives/result.ts'
import type { BanFacts, NetworkApi, PeerFacts, SyncFacts } from '../../rpc/node/network.ts'
import { Bans } from '../../src/p2p/host/bans.ts'
import { RecordWriter } from '../../src/p2p/host/peer-records.ts'
import { addressOf, MemoryRecords, peerId } from './peering.ts'

/** A network with two made-up peers and real bans, for tests of the API. */
export class FakeNetwork implements NetworkApi {
  readonly #bans = new Bans(
    { now: () => Date.now() },
    new RecordWriter(new MemoryRecords(), (error) => {
      throw error
    }),
  )

  peers(): readonly PeerFacts[] {
    const facts = {
      direction: 'inbound',
      agent: 'farthing/1',
      height: 7,
      totalWork: 2n ** 70n,
      mode: 'full',
      latencyMs: 1.5,
      connectedAtMs: 1_700_000_000_000,
      bytesIn: 10,
      bytesOut: 20,
      points: 12.345,
      offences: { timeout: 1 },
      protected: false,
    } as const
    return [
      { ...facts, id: peerId(1), address: addressOf(1, '60.1.0.1') },
      {
        ...facts,
        id: peerId(2),
        address: addressOf(2, '60.2.0.1'),
        direction: 'outbound',
        latencyMs: null,
        bytesIn: null,
        bytesOut: null,
        points: 0,
        offences: {},
        protected: true,
      },
    ]
  }

  sync(): SyncFacts {
    return {
      ...{ state: 'bodies', height: 5, headersHeight: 9, targetHeight: 12, peers: 2 },
      ...{ blocksPerSecond: 1.5, secondsLeft: 4.7, behind: true },
    }
  }

  bans(): readonly BanFacts[] {
    return this.#bans.list()
  }

  ban(target: string, hours: number): Result<BanFacts> {
    return this.#bans.ban(target, hours * 3_600_000, 'the operator')
  }

  unban(target: string): Result<BanFacts> {
    const lifted = this.#bans.lift(target)
    return lifted.ok ? ok(lifted.value) : lifted
  }
}
