import sharp from 'sharp'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { CodeFinding } from '../../../marketplace/ports/chat-tasks.ts'
import { EnginePool } from '../../../src/workers/engine-pool.ts'

const never = new AbortController().signal
const fenced = (language: string, code: string): string => `Here:\n\n\`\`\`${language}\n${code}\n\`\`\`\n`

let pool: EnginePool
beforeAll(() => {
  pool = new EnginePool(1)
})
afterAll(() => pool.close())

async function findings(text: string): Promise<readonly CodeFinding[]> {
  const checked = await pool.run('chat/check-code', { text }, never)
  if (!checked.ok) throw new Error(JSON.stringify(checked.fault))
  return checked.value.blocks
}

const verdictOf = async (language: string, code: string) => (await findings(fenced(language, code)))[0]

describe('code that parses', () => {
  it.for([
    ['js', 'export const a = await fetch("x")'],
    ['javascript', 'with (a) { b = 010 }'],
    ['js', 'return 1'],
    ['ts', 'const a: Map<string, number> = new Map()'],
    ['typescript', 'enum Colour { Red }'],
    ['ts', 'namespace A { export const b = 1 }'],
    ['json', '{"a": [1, 2, null]}'],
    ['yaml', 'a: 1\nb:\n  - c\n---\nd: e'],
    ['html', '<!doctype html><ul><li>a<li>b</ul><br><img src=x><p>c<script>if (a < b) "</div>"</script>'],
    ['HTML', '<svg><path d="M0 0"/></svg>'],
  ])('%s: %s', async ([language, code]) => {
    expect(await verdictOf(language as string, code as string)).toMatchObject({ verdict: 'parses', problem: null })
  })
})

describe('code that is broken', () => {
  it.for([
    ['js', 'const = 1', /Unexpected token/],
    ['js', 'let a = 1; let a = 2', /already been declared/],
    ['ts', 'const a: = 1', /Unexpected token/],
    ['ts', 'enum A { x }; const b = (', /Expression expected/],
    ['json', '{a: 1}', /JSON/],
    ['json', "{'a': 1}", /JSON/],
    ['yaml', 'a: [1, 2', /flow/i],
    ['yaml', 'a: b: c', /mapping/i],
    ['html', '<div><span></div>', /<span> is not closed before <\/div>/],
    ['html', '<div>', /<div> is not closed/],
    ['html', 'a</section>', /<\/section> closes nothing/],
  ] as const)('%s: %s', async ([language, code, problem]) => {
    const finding = await verdictOf(language, code)
    expect(finding?.verdict).toBe('broken')
    expect(finding?.problem).toMatch(problem)
  })
})

describe('code of which there is no parser', () => {
  it.for([
    ['python', 'def f(a):\n    return "(" + a[0]  # :(', null],
    ['python', "a = '''it's ( a'''\nb = {1}", null],
    ['rust', "fn a<'b>(c: &'b str) { /* ( */ }", null],
    ['sql', 'select count(*) from a -- (', null],
    ['python', 'print((1)', '"(" on line 1 is not closed'],
    ['c', 'int main() {\n  return 0;\n}}', '"}" on line 3 closes nothing'],
    ['tsx', 'const a = <div>{b}</div>', null],
    ['bash', 'case $a in b) echo;; esac', null],
    ['', 'a ( b', null],
    ['brainfuck', '[[[', null],
  ] as const)('%s: %s', async ([language, code, problem]) => {
    expect(await verdictOf(language, code)).toMatchObject({ language, verdict: 'not checked', problem })
  })
})

describe('blocks of a text', () => {
  it('are all found, with their place', async () => {
    const text = [
      'First `inline`',
      '```js',
      'a(',
      '```',
      '- in a list',
      '    ~~~~JSON {title=x}',
      '    {}',
      '    ~~~',
      '    ~~~~',
      '```` ',
      'plain',
    ].join('\r\n')
    expect(await findings(text)).toEqual([
      { language: 'js', line: 2, verdict: 'broken', problem: 'Unexpected token (1:2)' },
      { language: 'json', line: 6, verdict: 'broken', problem: expect.stringContaining('JSON') },
      { language: '', line: 10, verdict: 'not checked', problem: 'its fence is not closed' },
    ])
  })

  it('are none where there is no code', async () => {
    expect(await findings('A ``` that ``` is within a line\n``` and `another` one')).toEqual([])
  })

  it('beyond the bound are counted', async () => {
    const checked = await pool.run('chat/check-code', { text: fenced('json', '1').repeat(80) }, never)
    expect(checked).toMatchObject({ ok: true, value: { total: 80 } })
    expect(checked.ok && checked.value.blocks).toHaveLength(64)
  })

  it('of a text that is too long are not looked at', async () => {
    const checked = await pool.run('chat/check-code', { text: 'a'.repeat(600_001) }, never)
    expect(checked).toMatchObject({ ok: false, fault: { code: 'engine/refused' } })
  })
})

describe('hostile code', () => {
  const CHARS = 400_000
  const of = (piece: string): string => piece.repeat(CHARS / piece.length)
  it.for([
    ['js', of('(')],
    ['js', of('!')],
    ['js', of('a=>')],
    ['js', of('`${')],
    ['js', of('/')],
    ['js', of('a?')],
    ['js', `/${of('(a*)*')}/`],
    ['json', of('[')],
    ['yaml', of('- ')],
    ['yaml', of('? ')],
    ['yaml', of('&a ')],
    ['yaml', of('a:\n ')],
    ['yaml', `a: &a [1]\n${of('b: [*a,*a,*a]\n')}`],
    ['html', of('<a>')],
    ['html', of('</a>')],
    ['html', of('<')],
    ['html', of('<a b="')],
    ['python', of('"')],
    ['python', of('\\"')],
    ['python', `"${of('\\"')}`],
    ['python', of("'a")],
    ['c', of('/*')],
    ['', of('```')],
    ['', of('`')],
    ['', of('\n```\n')],
    ['', of(' ')],
    ['', of('~~~{')],
  ] as const)('has an end: %s %#', async ([language, code]) => {
    const checked = await pool.run('chat/check-code', { text: fenced(language, code) }, never)
    expect(checked.ok || ['engine/killed', 'engine/failed'].includes(checked.fault.code)).toBe(true)
  })

  it.for(['A<'.repeat(20_000), 'if(a)'.repeat(20_000), 'a=>'.repeat(20_000)])(
    'that breaks the TypeScript parser is not held against the next text: %#',
    async (code) => {
      const checked = await pool.run('chat/check-code', { text: fenced('ts', `let a: ${code}`) }, never)
      const later = await pool.run('chat/check-code', { text: fenced('ts', 'let a: number = 1') }, never)
      expect(checked.ok || checked.fault.code === 'engine/failed').toBe(true)
      expect(later).toMatchObject({ ok: true, value: { blocks: [{ verdict: 'parses' }] } })
    },
  )
})

describe('checks that take all the time there is', () => {
  it('do not hold up what others ask for, however many of them one caller has', async () => {
    const schema = { properties: { a: { type: 'string', pattern: '^(a|a)*$' } } }
    const text = JSON.stringify({ a: `${'a'.repeat(40)}!` })
    const gone = new AbortController()
    let ended = 0
    const checks = Array.from({ length: 8 }, async () => {
      await pool.run('chat/check-schema', { schema, text }, gone.signal, 'greedy')
      ended += 1
    })
    const bytes = await sharp({ create: { width: 8, height: 8, channels: 3, background: '#fff' } })
      .png()
      .toBuffer()
    const picture = { bytes: new Uint8Array(bytes), bytesMax: 1_000_000, sideMax: 512 }
    const [seen, checked] = await Promise.all([
      pool.run('image/vision', picture, never, 'other'),
      pool.run('chat/check-schema', { schema: {}, text: '1' }, never, 'third'),
    ])
    expect([seen.ok, checked.ok]).toEqual([true, true])
    expect(ended).toBeLessThan(3)
    gone.abort()
    await Promise.all(checks)
  })

  it('do not hold up the work on pages', async () => {
    const schema = { properties: { a: { type: 'string', pattern: '^(a|a)*$' } } }
    const text = JSON.stringify({ a: `${'a'.repeat(40)}!` })
    const ends: string[] = []
    const gone = new AbortController()
    const checks = Array.from({ length: 4 }, async () => {
      await pool.run('chat/check-schema', { schema, text }, gone.signal)
      ends.push('check')
    })
    const bytes = new TextEncoder().encode('<title>A page</title>')
    const page = { url: 'https://a.example/', bytes, mediaType: 'text/html', charset: null }
    expect(await pool.run('page/meta', page, never)).toMatchObject({ ok: true, value: { title: 'A page' } })
    ends.push('page')
    gone.abort()
    await Promise.all(checks)
    expect(ends.filter((end) => end === 'check')).toHaveLength(4)
    expect(ends.indexOf('page')).toBeLessThan(3)
  })
})
