import { describe, expect, it } from 'vitest'
import { runScript, sourceUrl } from '../../../support/script.ts'

const IMPORT = `import { createLogger } from ${JSON.stringify(sourceUrl('src/telemetry/logger.ts'))}`
const SECRETS = ['passphrase', 'seed', 'words', 'secret', 'opener', 'privateKey', 'authorization', 'cookie']

interface Line {
  readonly level: number
  readonly time: string
  readonly msg?: string
  readonly [field: string]: unknown
}

interface Logged {
  readonly text: string
  readonly lines: readonly Line[]
  readonly stdout: string
  readonly code: number | null
}

/** Output of a process that runs `script` with a logger named `log`. */
async function logged(script: string, settings = '{ level: "trace", format: "json" }'): Promise<Logged> {
  const { stderr, stdout, code } = await runScript([IMPORT, `const log = createLogger(${settings})`, script]).finished()
  const lines = settings.includes('json')
    ? stderr
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as Line)
    : []
  return { text: stderr, lines, stdout, code }
}

describe('a log', () => {
  it('is a line of JSON for each thing said, on standard error alone', async () => {
    const { lines, stdout, text } = await logged(`
      log.info({ height: 7 }, 'mined')
      log.warn('beware\\nof "lines"')
      log.debug({ empty: null, list: [1, 'two'] })
    `)
    expect(stdout).toBe('')
    expect(text.endsWith('}\n')).toBe(true)
    expect(lines.map(({ time, ...rest }) => rest)).toEqual([
      { level: 30, height: 7, msg: 'mined' },
      { level: 40, msg: 'beware\nof "lines"' },
      { level: 20, empty: null, list: [1, 'two'] },
    ])
    for (const { time } of lines) expect(new Date(time).toISOString()).toBe(time)
  })

  const ATTACK = '\u001b[2J\u009b31m\u0085\u007f\u202e\u2066\u200b\u2028\ufeff\r\b\ud800\u{e0041}\\u001b end'
  const UNSEEN = new RegExp(
    [
      '[\\u0000-\\u0009\\u000b-\\u001f\\u007f-\\u009f\\u200b-\\u200f\\u2028-\\u202e',
      '\\u2066-\\u2069\\ufeff\\u{e0041}]',
    ].join(''),
    'u',
  )
  const SAY = `const attack = ${JSON.stringify(ATTACK)}
    log.warn({ peer: attack, [attack]: { deep: [attack] }, error: new Error(attack) }, 'said ' + attack)
    log.warn('of a peer: ' + attack + '\\n[12:00:00] INFO: all is well')`

  it('holds nothing that a terminal obeys, whatever strangers said, and loses none of it', async () => {
    const { text, lines } = await logged(SAY)
    expect(text).not.toMatch(UNSEEN)
    expect(lines[0]).toMatchObject({ peer: ATTACK, [ATTACK]: { deep: [ATTACK] }, msg: `said ${ATTACK}` })
  })

  it('for people holds nothing that a terminal obeys, and no line that a stranger began', async () => {
    const { text } = await logged(SAY, '{ level: "trace", format: "pretty" }')
    expect(text).not.toMatch(UNSEEN)
    expect(text.split('\n').filter((line) => line.startsWith('[12:00:00]'))).toEqual([])
    expect(text.split('WARN').length - 1).toBe(2)
    expect(text).toContain('\\u001b end')
  })

  it('for people is one line for each thing said, with its facts', async () => {
    const { text } = await logged(
      `log.info({ height: 7, id: 'ab', peers: 2 }, 'running')`,
      '{ level: "info", format: "pretty" }',
    )
    expect(text.trimEnd().split('\n')).toEqual([expect.stringMatching(/running \{"height":7,"id":"ab","peers":2\}$/)])
  })

  it.each([
    ['trace', 6],
    ['info', 4],
    ['warn', 3],
    ['silent', 0],
  ])('at level %s says %i of six things', async (level, count) => {
    const script = `for (const each of ['trace', 'debug', 'info', 'warn', 'error', 'fatal']) log[each]('said')`
    const { text } = await logged(script, `{ level: ${JSON.stringify(level)}, format: "pretty" }`)
    expect(text.split('said').length - 1).toBe(count)
  })

  it('has all that was said before the process ended, however it ended', async () => {
    const many = 'for (let i = 0; i < 500; i++) log.info({ i })'
    const exited = await logged(`${many}; process.exit(3)`)
    expect([exited.code, exited.lines.length, exited.lines.at(-1)?.i]).toEqual([3, 500, 499])
    const killed = await runScript([
      IMPORT,
      `const log = createLogger({ level: "info", format: "json" })`,
      many,
      `process.kill(process.pid, 'SIGKILL')`,
    ]).finished()
    expect([killed.signal, killed.stderr.trimEnd().split('\n').length]).toEqual(['SIGKILL', 500])
  })

  it('says what an error was, where it came from and what caused it', async () => {
    const { lines } = await logged(`log.error({ err: new Error('outer', { cause: new Error('inner') }) }, 'failed')`)
    const { err, msg } = lines[0] as Line & { readonly err: { readonly message: string; readonly stack: string } }
    expect([msg, err.message]).toEqual(['failed', 'outer: inner'])
    expect(err.stack).toMatch(/^Error: outer\n +at /)
    expect(err.stack).toContain('\ncaused by: Error: inner\n')
  })
})

describe('secrets in a log', () => {
  /** Every place where a field can occur in a log call. `%` stands for its name. */
  const PLACES = [
    '{ %: S }',
    '{ call: { %: S } }',
    '{ call: { payment: { %: S } } }',
    '{ list: [{ %: S }] }',
    '{ err: Object.assign(new Error("said"), { %: S }) }',
    '{ %: S, other: { %: S }, more: { still: { %: S } } }',
  ]

  it.each(['json', 'pretty'])('are hidden by their names wherever they stand, as %s', async (format) => {
    const calls = PLACES.flatMap((place) => SECRETS.map((name) => `log.info(${place.replaceAll('%', name)}, 'kept')`))
    const script = `const S = 'hush' + 'hush'; ${calls.join('\n')}`
    const { text } = await logged(script, `{ level: "trace", format: ${JSON.stringify(format)} }`)
    expect(text).not.toContain('hushhush')
    expect(text.split('kept').length - 1).toBe(PLACES.length * SECRETS.length)
    expect(text.split('[hidden]').length - 1).toBe((PLACES.length + 2) * SECRETS.length)
  })

  it('are hidden whatever they are', async () => {
    const values = ['42', '[104, 117]', '{ a: "hushhush" }', 'new Uint8Array([9, 9])', 'true', '123456789n.toString()']
    const script = values.map((value) => `log.info({ secret: ${value} })`).join('\n')
    const { lines } = await logged(script)
    expect(lines.map(({ secret }) => secret)).toEqual(values.map(() => '[hidden]'))
  })

  it('are hidden in what a child logger says of itself', async () => {
    const { lines } = await logged(`
      const child = log.child({ passphrase: 'hushhush', call: { secret: 'hushhush' }, area: 'wallet' })
      child.info({ seed: 'hushhush' }, 'opened')
      child.child({ words: 'hushhush' }).info('again')
    `)
    expect(JSON.stringify(lines)).not.toContain('hushhush')
    expect(lines.map(({ area, msg, passphrase }) => [area, msg, passphrase])).toEqual([
      ['wallet', 'opened', '[hidden]'],
      ['wallet', 'again', '[hidden]'],
    ])
  })

  it('are all that is hidden, and what was logged is not changed by it', async () => {
    const { lines } = await logged(`
      const facts = { secret: 'hushhush', payment: { txId: 'ab', secret: 'hushhush' }, wordsCount: 24 }
      log.info(facts)
      log.info({ intact: facts.secret.length + facts.payment.secret.length })
    `)
    expect(lines[0]).toMatchObject({ payment: { txId: 'ab', secret: '[hidden]' }, wordsCount: 24 })
    expect(lines[1]).toMatchObject({ intact: 16 })
  })
})
