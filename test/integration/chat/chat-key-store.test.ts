import {
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { Level } from 'level'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Fault } from '../../../consensus/primitives/fault.ts'
import { type ChatKeys, OPERATOR } from '../../../marketplace/chat/keys/keys.ts'
import { type OpenChatKeys, openChatKeys, USAGE_LOSS_MS_MAX } from '../../../src/chat/stores/level-chat-keys.ts'
import { isPassword, readOperatorPassword, writeOperatorPassword } from '../../../src/storage/operator-password.ts'
import { ManualTime } from '../../support/manual-time.ts'
import { removeFolder, temporaryFolder, until } from '../../support/processes.ts'

let folder: string
let time: ManualTime
let opened: OpenChatKeys[]
let faults: Fault[]
beforeEach(() => {
  folder = temporaryFolder()
  time = new ManualTime()
  time.pass(1_700_000_000_000)
  opened = []
  faults = []
})
afterEach(async () => {
  await Promise.all(opened.map((keys) => keys.close()))
  removeFolder(folder)
})

const BOUNDS = { rpm: 100, tpd: 10_000, concurrent: 10, keys: 5 }

async function open(place = folder): Promise<OpenChatKeys> {
  const onFault = (cause: Fault): void => {
    faults.push(cause)
  }
  const keys = await openChatKeys({
    folder: join(place, 'chat-keys'),
    clock: time,
    timers: time,
    bounds: BOUNDS,
    onFault,
  })
  opened.push(keys)
  return keys
}

/** What a process that is killed now would leave on disk. */
function killed(): string {
  const copy = temporaryFolder()
  cpSync(folder, copy, { recursive: true, filter: (path) => !path.endsWith('LOCK') })
  return copy
}

async function made(keys: ChatKeys, label = 'a key'): Promise<{ readonly id: string; readonly header: string }> {
  time.pass(1)
  const result = await keys.create({ label, owner: OPERATOR, limits: { rpm: null, tpd: null }, expiresAtMs: null })
  if (!result.ok) throw new Error(result.fault.code)
  return { id: result.value.key.id, header: `Bearer ${result.value.secret}` }
}

function chat(keys: ChatKeys, header: string, tokens: number): void {
  const key = keys.identify(header)
  const pass = key.ok ? keys.admit(key.value) : key
  if (!pass.ok) throw new Error(pass.fault.code)
  pass.value.done({ promptTokens: tokens, completionTokens: 1, totalTokens: tokens + 1, estimated: false })
}

const filesWith = (text: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => {
    const path = join(folder, name)
    return statSync(path).isFile() && readFileSync(path).includes(text)
  })

describe('keys on a disk', () => {
  it('outlive a restart with their limits and all that was used', async () => {
    const first = await open()
    const [used, changed, revoked] = [await made(first), await made(first), await made(first)]
    for (let i = 0; i < 7; i++) chat(first, used.header, 100)
    await first.change(changed.id, OPERATOR, { label: 'changed', limits: { rpm: 3, tpd: 4 } })
    await first.revoke(revoked.id, OPERATOR)
    const before = first.list(OPERATOR)
    await first.close()
    const next = await open()
    expect(next.list(OPERATOR)).toEqual(before)
    expect(next.usedToday(OPERATOR)).toEqual({ requests: 7, promptTokens: 700, completionTokens: 7 })
    expect(next.identify(used.header).ok).toBe(true)
    expect(next.identify(revoked.header).ok).toBe(false)
    expect(faults).toEqual([])
  })

  it('are nowhere in the folder, and the secret of the seals is for the owner alone', async () => {
    const keys = await open()
    const { header } = await made(keys)
    await keys.close()
    const secret = header.slice('Bearer '.length)
    expect(filesWith(secret.slice(3, 11))).not.toEqual([])
    expect(filesWith(secret.slice(11))).toEqual([])
    expect(statSync(join(folder, 'chat-keys.secret')).mode & 0o777).toBe(0o600)
  })

  it('are there after a kill at any moment, as are their ends; of figures the last seconds may be lost', async () => {
    const keys = await open()
    const [one, two] = [await made(keys), await made(keys)]
    chat(keys, one.header, 10)
    expect(filesWith('"promptTokens":10,')).toEqual([])
    await time.passAll(USAGE_LOSS_MS_MAX)
    await until('the figures are written', () => filesWith('"promptTokens":10,').length > 0)
    await keys.revoke(two.id, OPERATOR)
    const copy = killed()
    const after = await open(copy)
    expect(after.usedToday(OPERATOR)).toEqual({ requests: 1, promptTokens: 10, completionTokens: 1 })
    expect([one, two].map(({ header }) => after.identify(header).ok)).toEqual([true, false])
    chat(keys, one.header, 50)
    const three = await made(keys)
    const later = killed()
    const last = await open(later)
    expect(last.identify(three.header).ok).toBe(true)
    // Any write also stores the pending use.
    expect(last.usedToday(OPERATOR)).toEqual({ requests: 2, promptTokens: 60, completionTokens: 2 })
    for (const place of [copy, later]) removeFolder(place)
  })

  it('are opened by one process at a time', async () => {
    await open()
    await expect(open()).rejects.toMatchObject({ cause: { code: 'LEVEL_LOCKED' } })
  })
})

describe('damage', () => {
  it('of one record costs that key alone', async () => {
    const first = await open()
    const [good, bad, late] = [await made(first), await made(first), await made(first)]
    await first.close()
    const database = new Level<string, string>(join(folder, 'chat-keys'))
    const kept = JSON.parse((await database.get(`key/${late.id}`)) as string)
    // Beyond the largest Date: formatting it would fail, together with all other keys on the page.
    await database.put(`key/${late.id}`, JSON.stringify({ ...kept, expiresAtMs: 8_640_000_000_000_001 }))
    await database.put(`key/${bad.id}`, '{"id":"x"')
    await database.put('key/rubbish1', '[]')
    await database.close()
    const next = await open()
    expect(next.list(OPERATOR).map(({ id }) => id)).toEqual([good.id])
    expect(next.identify(bad.header).ok).toBe(false)
    expect(faults).toMatchObject([
      { code: 'chat/keys-damaged', detail: { reason: expect.stringMatching(/^3 entries/) } },
    ])
  })

  it.each([
    ['lost', (path: string) => unlinkSync(path)],
    ['cut off', (path: string) => truncateSync(path, 10)],
    ['replaced', (path: string) => writeFileSync(path, `${'0f'.repeat(32)}\n`)],
  ])('of a secret that was %s ends the keys, says so, and new ones work', async (_, damage) => {
    const first = await open()
    const { header, id } = await made(first)
    await first.close()
    damage(join(folder, 'chat-keys.secret'))
    const next = await open()
    expect(next.identify(header)).toMatchObject({
      fault: { code: 'chat/invalid-key', detail: { reason: expect.stringContaining('gone') } },
    })
    expect(next.list(OPERATOR)).toMatchObject([{ id, state: 'lost' }])
    expect(faults).toMatchObject([
      { code: 'chat/keys-damaged', detail: { reason: expect.stringMatching(/^1 are no longer valid, since /) } },
    ])
    const fresh = await made(next)
    expect(next.identify(fresh.header).ok).toBe(true)
  })

  it('of the database leaves it beside, and begins a new one', async () => {
    const first = await open()
    await made(first)
    await first.close()
    writeFileSync(join(folder, 'chat-keys', 'CURRENT'), 'MANIFEST-999999\n')
    const next = await open()
    expect(next.list(OPERATOR)).toEqual([])
    expect(existsSync(join(folder, 'chat-keys.damaged'))).toBe(true)
    expect(faults).toHaveLength(1)
    await made(next)
  })
})

describe("the operator's password", () => {
  it('is kept as a hash for the owner alone, and known by nothing else', async () => {
    const path = join(folder, 'operator.password')
    expect(await readOperatorPassword(path)).toBe(null)
    await writeOperatorPassword(path, 'a long passwörd')
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(readFileSync(path, 'utf8')).not.toContain('long')
    const kept = await readOperatorPassword(path)
    if (kept === null || kept === 'damaged') throw new Error('it was not kept')
    expect(await isPassword('a long passw\u006f\u0308rd', kept)).toBe(true)
    expect(await isPassword('a long password', kept)).toBe(false)
    writeFileSync(path, 'scrypt:1:1:1:00:00\n')
    expect(await readOperatorPassword(path)).toBe('damaged')
  })
})
