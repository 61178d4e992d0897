import { readdirSync } from 'node:fs'
import { afterAll, describe, expect, it } from 'vitest'
import { seeded } from '../sim/miners.ts'
import { ask } from '../support/api.ts'
import { marketOpen } from '../support/caller.ts'
import { type RunningDaemon, WITH_TEST_SERVICES, Workshop } from '../support/daemon.ts'
import { Load } from '../support/load.ts'
import { type Finished, until } from '../support/processes.ts'
import { SMALL_DISKS, type SmallDisk } from '../support/small-disk.ts'

const workshop = new Workshop()
const disks: SmallDisk[] = []
// This hook is registered after the workshop's, so it runs before the workshop removes the folders.
afterAll(() => {
  for (const disk of disks) disk.remove()
})

const KIB = 1_024
const STORAGE_CODE = 74
const FATAL = 60
const env = { TEST_FAST_BLOCKS: '1', FARTHING_LOG_LEVEL: 'debug' }
const options = { entry: WITH_TEST_SERVICES, env }
const AMONG_OTHERS = {
  ...{ FARTHING_P2P_ENABLED: 'true', FARTHING_P2P_PORT: '0', FARTHING_P2P_MDNS: 'false', FARTHING_P2P_DHT: 'false' },
  ...env,
}

const heightOf = async (url: string): Promise<number> =>
  (await ask<{ height: number }>(url, '/api/v1/status')).body.height

/** Expects that the daemon ended with the exit code of storage and named the full disk in one line. */
function expectFull({ code, signal, stderr }: Finished, { folder, fullness }: SmallDisk): void {
  expect({ code, signal, stderr: stderr.slice(-2_000) }).toMatchObject({ code: STORAGE_CODE, signal: null })
  const fatal = stderr.split('\n').filter((line) => line.startsWith('{') && JSON.parse(line).level === FATAL)
  expect(fatal).toHaveLength(1)
  const line = JSON.parse(fatal[0] as string) as { readonly msg: string; readonly code: number }
  expect(line).toMatchObject({ msg: expect.stringMatching(fullness), code: STORAGE_CODE })
  expect(line.msg).toContain(`the disk of ${folder} is full or failing: `)
  expect(line.msg).toContain('free some space and start again')
  expect(stderr).not.toMatch(/\n {4}at |\\n {4}at /)
}

/** Expects that a command did not start, and said why in one line. */
function expectRefused({ code, stdout, stderr }: Finished, { folder, fullness }: SmallDisk): void {
  const lines = stderr.split('\n').filter((line) => line !== '' && !line.startsWith('{'))
  expect({ code, stdout, lines }).toEqual({ code: STORAGE_CODE, stdout: '', lines: [expect.stringMatching(fullness)] })
  expect(lines[0]).toContain(`farthing: the disk of ${folder}`)
}

/** Expects that all committed blocks are there and sound, and that the node works again. */
async function expectWhole(folder: string, height: number): Promise<void> {
  const audit = await workshop.run(['audit', '--data-dir', folder], options)
  expect(audit.code, audit.stderr).toBe(0)
  expect(JSON.parse(audit.stdout)).toMatchObject({ sound: true })
  const daemon = await workshop.start(folder, { env })
  const atStart = await heightOf(daemon.url)
  expect(atStart).toBeGreaterThanOrEqual(height)
  await until('it mines on', async () => (await heightOf(daemon.url)) > atStart)
  expect(await daemon.stop()).toEqual({ code: 0, signal: null })
  expect(readdirSync(folder).filter((name) => name.endsWith('.tmp'))).toEqual([])
}

/** Height of the last block in a daemon's log. */
function heightToldBy({ log }: RunningDaemon): number {
  return Math.max(0, ...log.flatMap(({ msg, height }) => (msg === 'mined' ? [Number(height)] : [])))
}

describe.each(SMALL_DISKS)('a disk that is full, by %s:', (_, make) => {
  const newDisk = (): SmallDisk => {
    const disk = make(workshop.folder())
    disks.push(disk)
    return disk
  }

  it('a daemon that mines and sells ends by itself, and takes up where it was once there is room', async () => {
    const disk = newDisk()
    const daemon = await workshop.start(disk.folder, { env })
    await marketOpen(daemon.url)
    const load = new Load([1, 3, 4, 5, 6, 7], seeded(20_261_122))
    const over = new AbortController()
    const work = load.run(daemon.url, over.signal)
    disk.fill(300 * KIB, daemon.program.pid)
    const finished = await daemon.program.finished()
    over.abort()
    await work
    expectFull(finished, disk)
    expect(load.bought.length).toBeGreaterThan(0)
    disk.free()
    const acknowledged = [...load.acknowledged.values()].map(({ height }) => height)
    await expectWhole(disk.folder, Math.max(heightToldBy(daemon), ...acknowledged))
  })

  it('a daemon that takes blocks from another ends by itself, and goes on once there is room', async () => {
    const disk = newDisk()
    const flags = ['--market-enabled', 'false']
    const source = await workshop.start(workshop.folder(), { env: AMONG_OTHERS })
    const address = await until('it listens', () => /--peer (\S+)/.exec(source.program.stderr)?.[1])
    const follower = { env: AMONG_OTHERS, mine: 0, flags: [...flags, '--peer', address] }
    const daemon = await workshop.start(disk.folder, follower)
    const height = await until('blocks arrive', async () => (await heightOf(daemon.url)) || null)
    disk.fill(100 * KIB, daemon.program.pid)
    expectFull(await daemon.program.finished(), disk)
    disk.free()
    const again = await workshop.start(disk.folder, follower)
    const goal = await heightOf(source.url)
    expect(goal).toBeGreaterThan(height)
    await until('it caught up', async () => (await heightOf(again.url)) >= goal)
    expect((await again.stop()).code).toBe(0)
    expect((await source.stop()).code).toBe(0)
    await expectWhole(disk.folder, goal)
  })

  it('a daemon that is told to stop while it is full says what it could not keep', async () => {
    const disk = newDisk()
    const daemon = await workshop.start(disk.folder, { env: AMONG_OTHERS, mine: 0 })
    disk.fill(0, daemon.program.pid)
    await daemon.stop()
    expectFull(await daemon.program.finished(), disk)
    disk.free()
    await expectWhole(disk.folder, 0)
  })

  it.each([
    ['by itself', env],
    ['among others', AMONG_OTHERS],
  ])('neither a new node nor an old one starts on it, %s', async (_, env) => {
    const disk = newDisk()
    const node = disk.fullNode === undefined ? {} : { node: disk.fullNode }
    const begin = () => workshop.begin(disk.folder, { env, ...node }).finished()
    disk.fill(0, null)
    expectRefused(await workshop.run(['init', '--data-dir', disk.folder], { ...options, ...node }), disk)
    expectRefused(await begin(), disk)
    disk.free()
    const daemon = await workshop.start(disk.folder, { env })
    const height = await until('it mined', async () => (await heightOf(daemon.url)) || null)
    await daemon.kill()
    disk.fill(0, null)
    expectRefused(await begin(), disk)
    expectRefused(await workshop.run(['audit', '--data-dir', disk.folder], { ...options, ...node }), disk)
    disk.free()
    await expectWhole(disk.folder, height)
  })
})
