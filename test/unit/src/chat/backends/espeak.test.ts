import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { Espeak } from '../../../../../src/chat/backends/espeak.ts'
import { systemClock, systemTimers } from '../../../../../src/daemon/runtime.ts'
import { removeFolder, temporaryFolder, until } from '../../../../support/processes.ts'

const folder = temporaryFolder()
const VOICES = `Pty Language       Age/Gender VoiceName          File                 Other Languages
 5  af              --/M      Afrikaans          gmw/af
 2  en-gb           --/M      English_(Great_Britain) gmw/en            (en 2)
 5  chr-US-Qaaa-x-west --/M      Cherokee_          iro/chr
`
const never = new AbortController().signal
const REQUEST = { text: 'Hello.', voice: null, speed: 1, by: null }
let made = 0

afterAll(() => removeFolder(folder))

/** A program that lists voices, and runs a shell script for a text. */
function program(speaks: string): string {
  const path = join(folder, `program-${made++}`)
  writeFileSync(`${path}.voices`, VOICES)
  writeFileSync(path, `#!/bin/sh\nif [ "$1" = --voices ]; then cat '${path}.voices'; exit; fi\n${speaks}\n`)
  chmodSync(path, 0o755)
  return path
}

async function open(path: string): Promise<Espeak> {
  const espeak = new Espeak({ program: path, clock: systemClock, timers: systemTimers })
  await espeak.start()
  return espeak
}

/** Whether a process with this id runs. */
function runs(pid: number): boolean {
  return existsSync(`/proc/${pid}`) && !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
}

describe('espeak-ng as a program', () => {
  it('is given the text on its input, the rest as arguments, and nothing of the environment', async () => {
    process.env.TEST_SECRET = 'not for others'
    const espeak = await open(program('printf "%s|" "$@"; printf "%s|" "$TEST_SECRET"; cat'))
    const request = { ...REQUEST, text: 'Hi; rm -rf "$HOME" `id`', voice: 'en-gb', speed: 2 }
    const spoken = await espeak.speak(request, never)
    delete process.env.TEST_SECRET
    if (!spoken.ok) throw new Error(spoken.fault.code)
    const said = Buffer.from(spoken.value.bytes).toString()
    expect(said).toBe('--stdin|--stdout|-b|1|-v|en-gb|-s|350||Hi; rm -rf "$HOME" `id`')
    espeak.stop()
  })

  it('is given no commands and no sounds, only letters', async () => {
    const espeak = await open(program('cat'))
    const spoken = await espeak.speak({ ...REQUEST, text: 'a\u0001Ix.wav\u0000 [[h@loU]] \ud800\n\u001b[0m' }, never)
    if (!spoken.ok) throw new Error(spoken.fault.code)
    expect(Buffer.from(spoken.value.bytes).toString()).toBe('a Ix.wav  [ [h@loU]] \ufffd\n [0m')
    espeak.stop()
  })

  it('is ready once it has told its voices', async () => {
    const espeak = new Espeak({ program: program('cat'), clock: systemClock, timers: systemTimers })
    expect(espeak.readiness()).toMatchObject({ available: false })
    await espeak.start()
    expect(espeak.readiness()).toEqual({ available: true, engine: 'espeak-ng' })
    expect(espeak.voices()).toEqual(['alloy', 'af', 'en-gb'])
    expect(await espeak.checkAll()).toMatchObject([{ name: 'espeak-ng', ok: true, detail: 'answers' }])
    espeak.stop()
  })

  it.each([
    ['is not there', join(folder, 'nothing'), 'ENOENT'],
    ['is no program', folder, 'EACCES'],
    ['is within a file', '/bin/true/espeak-ng', 'ENOTDIR'],
    ['has no name', 'a\u0000b', 'ERR_INVALID_ARG_VALUE'],
    ['is another program', '/bin/true', 'no voices'],
    ['fails', '/bin/false', 'ended with 1'],
  ])('that %s is not ready, and says why', async (_, path, reason) => {
    const espeak = await open(path)
    const readiness = espeak.readiness()
    expect(readiness).toMatchObject({ available: false, requires: [] })
    expect(espeak.facts[0]?.trouble).toContain(reason)
    expect(await espeak.speak(REQUEST, never)).toMatchObject({ ok: path === '/bin/true' })
    espeak.stop()
  })

  it.each([
    ['fails', 'exit 3', 'ended with 3'],
    ['crashes', 'kill -SEGV $$', 'SIGSEGV'],
    ['does not read', 'exec <&-; sleep 0.1; exit 1', 'ended with 1'],
    ['never stops talking', 'exec cat /dev/zero', 'more than 16777216 bytes'],
  ])('that %s in the middle is a fault', async (_, speaks, reason) => {
    const espeak = await open(program(speaks))
    const spoken = await espeak.speak({ ...REQUEST, text: 'Hello. '.repeat(20_000) }, never)
    expect(spoken).toMatchObject({ ok: false, fault: { code: 'model/answer' } })
    expect(JSON.stringify(spoken)).toContain(reason)
    espeak.stop()
  })

  it('is killed when its caller leaves, and when the node stops', async () => {
    const pidFile = join(folder, 'pid')
    const espeak = await open(program(`echo $$ > '${pidFile}'; exec sleep 600`))
    const pidOf = (): Promise<number> =>
      until('the program runs', () =>
        existsSync(pidFile) ? Number(readFileSync(pidFile, 'utf8')) || undefined : undefined,
      )
    const gone = new AbortController()
    const first = espeak.speak(REQUEST, gone.signal)
    const one = await pidOf()
    writeFileSync(pidFile, '')
    // espeak-ng speaks one text at a time, so this request waits.
    const second = espeak.speak(REQUEST, never)
    gone.abort()
    expect(await first).toMatchObject({ ok: false, fault: { code: 'model/timeout' } })
    expect(runs(one)).toBe(false)
    const two = await pidOf()
    expect(two).not.toBe(one)
    espeak.stop()
    expect(await second).toMatchObject({ ok: false, fault: { code: 'model/timeout' } })
    expect(runs(two)).toBe(false)
  })

  it('does not hang on a process that it has started itself', async () => {
    const pidFile = join(folder, 'pid-of-child')
    const espeak = await open(program(`sleep 600 & echo $! > '${pidFile}'; wait`))
    const gone = new AbortController()
    const first = espeak.speak(REQUEST, gone.signal)
    const child = await until('the program runs', () =>
      existsSync(pidFile) ? Number(readFileSync(pidFile, 'utf8')) || undefined : undefined,
    )
    gone.abort()
    expect(await first).toMatchObject({ ok: false, fault: { code: 'model/timeout' } })
    process.kill(child)
    espeak.stop()
  })

  it('runs at low priority', async () => {
    const espeak = await open(program('cat > /dev/null; ps -o ni= -p $$ 2>/dev/null || cut -d" " -f19 /proc/$$/stat'))
    const spoken = await espeak.speak(REQUEST, never)
    if (!spoken.ok) throw new Error(spoken.fault.code)
    expect(Number(Buffer.from(spoken.value.bytes).toString())).toBeGreaterThan(0)
    espeak.stop()
  })

  it('has so many waiting and no more', async () => {
    const espeak = await open(program('exec sleep 600'))
    const asked = Array.from({ length: 12 }, () => espeak.speak(REQUEST, never))
    const busy = await Promise.race(asked)
    expect(busy).toMatchObject({ ok: false, fault: { code: 'model/busy' } })
    espeak.stop()
    const codes = (await Promise.all(asked)).map((one) => (one.ok ? 'ok' : one.fault.code))
    expect(codes.filter((code) => code === 'model/timeout')).toHaveLength(9)
  })
})
