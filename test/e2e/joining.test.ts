import { describe, expect, it } from 'vitest'
import { ask } from '../support/api.ts'
import { type RunningDaemon, Workshop } from '../support/daemon.ts'
import { until } from '../support/processes.ts'

const workshop = new Workshop()
/** Connects only to named peers, not to other nodes on this machine. */
const env = {
  FARTHING_P2P_ENABLED: 'true',
  FARTHING_P2P_PORT: '0',
  FARTHING_P2P_MDNS: 'false',
  FARTHING_P2P_DHT: 'false',
}
/** No node listens there. A node with this peer keeps trying. */
const UNREACHABLE_PEER = '/ip4/127.0.0.1/tcp/9'
const SELLS_NOTHING = 'This node sells nothing'

interface Facts {
  readonly height: number
  readonly market: { readonly enabled: boolean }
  readonly mining: { readonly rewardTo: string | null }
}
const factsOf = async (url: string): Promise<Facts> => (await ask(url, '/api/v1/status')).body as unknown as Facts

describe('a node of the devnet that joins others', () => {
  it('mines without a word about it, and sells nothing by the keys that every other has too', async () => {
    const node = await workshop.start(workshop.folder(), { env, flags: ['--peer', UNREACHABLE_PEER] })
    await until('it mines', async () => (await factsOf(node.url)).height > 0)
    expect(await factsOf(node.url)).toMatchObject({
      market: { enabled: false },
      mining: { rewardTo: expect.stringMatching(/^dfar1/) },
    })
    expect(node.program.stderr).toContain(SELLS_NOTHING)
    expect((await node.stop()).code).toBe(0)
  })

  it('sells by keys of its own, whichever start made them', async () => {
    const folder = workshop.folder()
    for (const flags of [['--dev-key', '3'], []]) {
      const node = await workshop.start(folder, { env, mine: 0, flags: ['--peer', UNREACHABLE_PEER, ...flags] })
      expect(await factsOf(node.url)).toMatchObject({ market: { enabled: true } })
      expect(node.program.stderr).not.toContain(SELLS_NOTHING)
      expect(node.program.stderr).toContain('Buy a first call')
      expect((await node.stop()).code).toBe(0)
    }
  })

  it('says whose coins are missing if no buyer could pay yet', async () => {
    const folder = workshop.folder()
    const made = await workshop.run(['wallet', 'new', '--wallet', 'market', '--data-dir', folder])
    const node = await workshop.start(folder, { env, mine: 0, flags: ['--peer', UNREACHABLE_PEER] })
    expect((await node.stop()).code).toBe(0)
    expect(node.program.stderr).toContain(`Nothing is sold before the wallet that is paid has coins: ${made.stdout}`)
    expect(node.program.stderr).not.toContain('Buy a first call')
    const warnings = node.program.stderr.split('\n').filter((line) => line.includes('"area":"registration"'))
    expect(warnings).toEqual([
      expect.stringContaining(
        `nothing is sold before the payout address ${made.stdout.trim()} has coins: send it some`,
      ),
    ])
  })

  it('is not fooled by a number that its folder was not made with, and does as it is told', async () => {
    const folder = workshop.folder()
    expect((await workshop.run(['init', '--data-dir', folder])).code).toBe(0)
    for (const [flags, sells] of [
      [['--dev-key', '3'], false],
      [['--dev-key', '1'], true],
    ] as const) {
      const node = await workshop.start(folder, { env, mine: 0, flags: ['--peer', UNREACHABLE_PEER, ...flags] })
      expect(await factsOf(node.url)).toMatchObject({ market: { enabled: sells } })
      expect((await node.stop()).code).toBe(0)
    }
  })
})

interface Registry {
  readonly services: readonly { readonly available: boolean; readonly unavailableReason?: string }[]
}

describe('a node of the devnet that finds another by itself', () => {
  const sells = async (url: string): Promise<boolean> =>
    (await ask<Registry>(url, '/services.json')).body.services.some(({ available }) => available)
  const told = (node: RunningDaemon): readonly string[] =>
    node.program.stderr
      .split('\n')
      .filter((line) => line.includes('another node of this devnet sells with the same development key'))

  it('leaves the selling to it, and says so in one line; the other goes on, also after a restart', async () => {
    const folders = [workshop.folder(), workshop.folder()] as const
    const first = await workshop.start(folders[0], { env })
    await until('the first sells', () => sells(first.url))
    const [, address = ''] = /--peer (\S+)/.exec(first.program.stderr) ?? []
    // The second node learns of the first one. Then it is started again without naming a peer.
    const joined = await workshop.start(folders[1], { env, mine: 0, flags: ['--peer', address] })
    await until('it follows', async () => (await factsOf(joined.url)).height > 2)
    expect((await joined.stop()).code).toBe(0)
    const second = await workshop.start(folders[1], { env, mine: 0 })
    await until('it is connected', async () => (await factsOf(second.url)).height >= (await factsOf(first.url)).height)
    await until('it has said so', async () => told(second).length > 0)
    const { body } = await ask<Registry>(second.url, '/services.json')
    expect(body.services.map(({ unavailableReason }) => unavailableReason)).toEqual(
      body.services.map(() => expect.stringContaining('another node of this devnet sells')),
    )
    expect(await sells(first.url)).toBe(true)
    await until(
      'some blocks later',
      async () => (await factsOf(second.url)).height > (await factsOf(first.url)).height - 1,
    )
    expect(told(second)).toHaveLength(1)
    expect((await second.stop()).code).toBe(0)
    expect((await first.stop()).code).toBe(0)
    const again = await workshop.start(folders[0], { env })
    await until('the first sells again', () => sells(again.url))
    expect(told(again)).toEqual([])
    expect((await again.stop()).code).toBe(0)
  })
})
