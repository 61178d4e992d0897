import { copyFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { EnginePool, type EnginePoolOptions } from '../../../src/workers/engine-pool.ts'
import { removeFolder, temporaryFolder, until } from '../../support/processes.ts'
import { runScript, sourceUrl } from '../../support/script.ts'

const ENTRY = new URL('../../support/engines-entry.ts', import.meta.url)
const NEVER = new AbortController().signal
const KILLED = { ok: false, fault: { code: 'engine/killed', detail: {} } }
const open: EnginePool[] = []

function poolOf(atOnce: number, options: EnginePoolOptions = {}): EnginePool {
  const pool = new EnginePool(atOnce, { entry: ENTRY, ...options })
  open.push(pool)
  return pool
}

/** Makes a process of the pool misbehave as told, instead of reading a page. */
function tell(pool: EnginePool, misdeed: string, signal: AbortSignal = NEVER): Promise<unknown> {
  return pool.run('page/meta', { url: misdeed, bytes: new Uint8Array(8), mediaType: '', charset: null }, signal)
}

async function pidOf(pool: EnginePool): Promise<number> {
  return ((await tell(pool, 'pid')) as { readonly value: number }).value
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

afterAll(() => Promise.all(open.map((pool) => pool.close())))

describe('a process of the engines', () => {
  it.concurrent.each(['spin', 'wait', 'fill the heap', 'ask for much in one piece'])(
    'that does "%s" is ended, and another one does the next job',
    async (misdeed) => {
      const pool = poolOf(1)
      const before = await pidOf(pool)
      expect(await tell(pool, misdeed)).toEqual(KILLED)
      const after = await pidOf(pool)
      expect([after === before, isAlive(before), isAlive(after)]).toEqual([false, false, true])
    },
  )

  it('is not waited for by a caller that gave up before it asked, although all places are taken', async () => {
    const pool = poolOf(1)
    const caller = new AbortController()
    const first = tell(pool, 'wait', caller.signal)
    expect(await tell(pool, 'pid', AbortSignal.abort())).toEqual(KILLED)
    caller.abort()
    expect(await first).toEqual(KILLED)
  })

  it('that overflows its stack fails the job, and does the next one', async () => {
    const pool = poolOf(1)
    const before = await pidOf(pool)
    const reason = 'Maximum call stack size exceeded'
    expect(await tell(pool, 'overflow the stack')).toEqual({
      ok: false,
      fault: { code: 'engine/failed', detail: { reason } },
    })
    expect(await pidOf(pool)).toBe(before)
  })

  it.each([
    ['end the process', 'its process ended (3)'],
    ['throw later', 'its process ended (1)'],
    ['give what cannot be given', '() => undefined could not be cloned.'],
  ])('that does "%s" has failed, and the next job is done', async (misdeed, reason) => {
    const pool = poolOf(1)
    expect(await tell(pool, misdeed)).toEqual({ ok: false, fault: { code: 'engine/failed', detail: { reason } } })
    expect(await pidOf(pool)).toBeGreaterThan(0)
  })

  it('that never begins is ended', async () => {
    expect(await tell(poolOf(1, { startMs: 500 }), 'never begin')).toEqual(KILLED)
  })

  it('cannot see the environment, read or write files, or start programs', async () => {
    const pool = poolOf(1)
    expect(await tell(pool, 'secrets')).toEqual({
      ok: true,
      value: expect.not.objectContaining({ PATH: expect.anything() }),
    })
    for (const misdeed of ['read a file', 'write a file', 'start a program']) {
      const answer = JSON.stringify(await tell(pool, misdeed))
      expect(answer).toContain('restricted')
    }
  })

  it('can read the operator’s fonts, wherever they are, and no other files', async () => {
    const folder = temporaryFolder()
    const [own, other] = [join(folder, 'own.ttf'), join(folder, 'other.ttf')]
    const font = createRequire(import.meta.url).resolve('dejavu-fonts-ttf/ttf/DejaVuSans.ttf')
    for (const path of [own, other]) copyFileSync(font, path)
    const pool = new EnginePool(1, { readable: [own] })
    open.push(pool)
    const read = (path: string): Promise<unknown> => pool.run('document/font', { path }, NEVER)
    expect([await read(own), await read(other)]).toMatchObject([{ ok: true }, { ok: false }])
    removeFolder(folder)
  })

  it.each(['pid', 'spin'])('ends with its parent process, however that ended: %s', async (misdeed) => {
    const program = runScript([
      `import { EnginePool } from ${JSON.stringify(sourceUrl('src/workers/engine-pool.ts'))}`,
      `const pool = new EnginePool(1, { entry: new URL(${JSON.stringify(ENTRY.href)}) })`,
      'const tell = (url) => pool.run("page/meta", { url }, new AbortController().signal)',
      'const { value } = await tell("pid")',
      `tell(${JSON.stringify(misdeed)})`,
      'setTimeout(() => console.log(value), 200)',
      'setTimeout(() => undefined, 60_000)',
    ])
    const pid = await until('the number of the process', () => Number(program.stdout) || undefined)
    expect(isAlive(pid)).toBe(true)
    await program.end('SIGKILL')
    await until('the end of the process', () => !isAlive(pid))
  })

  it('that is idle ends', async () => {
    const pool = poolOf(1, { idleMs: 50 })
    const pid = await pidOf(pool)
    await until('the end of the process', () => !isAlive(pid))
    expect(await pidOf(pool)).not.toBe(pid)
  })
})

describe('a job', () => {
  it('that its caller gives up is ended at once, and its neighbour is not', async () => {
    const pool = poolOf(2)
    await Promise.all([pidOf(pool), pidOf(pool)])
    const [first, second] = [new AbortController(), new AbortController()]
    const one = tell(pool, 'wait', first.signal)
    const other = tell(pool, 'wait', second.signal)
    first.abort()
    expect(await one).toEqual(KILLED)
    expect(await Promise.race([other, pidOf(pool).then(() => 'still under way')])).toBe('still under way')
    second.abort()
    expect(await other).toEqual(KILLED)
  })

  it('that is given up before its turn is answered at once, and never done', async () => {
    const pool = poolOf(1)
    const blocking = new AbortController()
    const blocked = tell(pool, 'wait', blocking.signal)
    const controller = new AbortController()
    const waiting = tell(pool, 'spin', controller.signal)
    controller.abort()
    expect(await waiting).toEqual(KILLED)
    const next = pidOf(pool)
    blocking.abort()
    expect(await blocked).toEqual(KILLED)
    expect(await next).toBeGreaterThan(0)
  })

  it('with an aborted signal is not done', async () => {
    expect(await tell(poolOf(1), 'pid', AbortSignal.abort())).toEqual(KILLED)
  })

  it('leaves no listener behind', async () => {
    const pool = poolOf(1)
    const listeners = new Set<unknown>()
    const { signal } = new AbortController()
    const [add, remove] = [signal.addEventListener.bind(signal), signal.removeEventListener.bind(signal)]
    signal.addEventListener = (...args: Parameters<typeof add>) => {
      listeners.add(args[1])
      add(...args)
    }
    signal.removeEventListener = (...args: Parameters<typeof remove>) => {
      listeners.delete(args[1])
      remove(...args)
    }
    for (let i = 0; i < 20; i += 1) await tell(pool, i % 2 === 0 ? 'pid' : 'overflow the stack', signal)
    await until('the last listener to go', () => listeners.size === 0)
    expect(listeners.size).toBe(0)
  })
})

describe('a pool that closes', () => {
  it('answers all jobs, and leaves no process', async () => {
    const pool = poolOf(1)
    const pid = await pidOf(pool)
    const jobs = [tell(pool, 'spin'), tell(pool, 'pid'), tell(pool, 'wait')]
    await pool.close()
    const codes = (await Promise.all(jobs)).map(
      (answer) => (answer as { readonly fault: { readonly code: string } }).fault.code,
    )
    expect([codes, isAlive(pid)]).toEqual([['engine/killed', 'engine/failed', 'engine/failed'], false])
    expect(await tell(pool, 'pid')).toMatchObject({ fault: { code: 'engine/failed' } })
  })

  it.concurrent.each(['idle', 'busy', 'open'])('when %s lets the process end by itself', async (state) => {
    const program = runScript([
      `import { EnginePool } from ${JSON.stringify(sourceUrl('src/workers/engine-pool.ts'))}`,
      `const pool = new EnginePool(1, { entry: new URL(${JSON.stringify(ENTRY.href)}) })`,
      'const tell = (url) => pool.run("page/meta", { url }, new AbortController().signal)',
      'console.log((await tell("pid")).ok)',
      ...(state === 'busy' ? ['tell("spin").then(({ fault }) => console.log(fault.code))'] : []),
      ...(state === 'open' ? [] : ['await pool.close()', 'await pool.close()']),
      'console.log("closed")',
    ])
    const { code, stdout, stderr } = await program.finished()
    expect([code, stdout.replace('engine/killed\n', ''), stderr]).toEqual([0, 'true\nclosed\n', ''])
  })
})
