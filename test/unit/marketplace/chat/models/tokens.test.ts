import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { describe, expect, it } from 'vitest'
import { estimatedTokens } from '../../../../../marketplace/chat/models/tokens.ts'
import { estimatedPrompt } from '../../../../../marketplace/chat/models/usage.ts'
import { ROOT } from '../../../../support/source-tree.ts'

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')

/** Article 1 of the Universal Declaration of Human Rights, and other texts. */
const TEXTS = {
  English:
    'All human beings are born free and equal in dignity and rights. They are endowed with reason and conscience and should act towards one another in a spirit of brotherhood.',
  German:
    'Alle Menschen sind frei und gleich an Würde und Rechten geboren. Sie sind mit Vernunft und Gewissen begabt und sollen einander im Geist der Brüderlichkeit begegnen.',
  French:
    'Tous les êtres humains naissent libres et égaux en dignité et en droits. Ils sont doués de raison et de conscience et doivent agir les uns envers les autres dans un esprit de fraternité.',
  Spanish:
    'Todos los seres humanos nacen libres e iguales en dignidad y derechos y, dotados como están de razón y conciencia, deben comportarse fraternalmente los unos con los otros.',
  Polish:
    'Wszyscy ludzie rodzą się wolni i równi pod względem swej godności i swych praw. Są oni obdarzeni rozumem i sumieniem i powinni postępować wobec innych w duchu braterstwa.',
  Turkish:
    'Bütün insanlar hür, haysiyet ve haklar bakımından eşit doğarlar. Akıl ve vicdana sahiptirler ve birbirlerine karşı kardeşlik zihniyeti ile hareket etmelidirler.',
  Vietnamese:
    'Tất cả mọi người sinh ra đều được tự do và bình đẳng về nhân phẩm và quyền lợi. Mọi con người đều được tạo hoá ban cho lý trí và lương tâm và cần phải đối xử với nhau trong tình anh em.',
  Russian:
    'Все люди рождаются свободными и равными в своем достоинстве и правах. Они наделены разумом и совестью и должны поступать в отношении друг друга в духе братства.',
  Greek:
    'Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα. Είναι προικισμένοι με λογική και συνείδηση, και οφείλουν να συμπεριφέρονται μεταξύ τους με πνεύμα αδελφοσύνης.',
  Arabic:
    'يولد جميع الناس أحرارا متساوين في الكرامة والحقوق. وقد وهبوا عقلا وضميرا وعليهم أن يعامل بعضهم بعضا بروح الإخاء.',
  Hebrew:
    'כל בני האדם נולדו בני חורין ושווים בערכם ובזכויותיהם. כולם חוננו בתבונה ובמצפון, לפיכך חובה עליהם לנהוג איש ברעהו ברוח של אחווה.',
  Hindi:
    'सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता और समानता प्राप्त है। उन्हें बुद्धि और अन्तरात्मा की देन प्राप्त है और परस्पर उन्हें भाईचारे के भाव से बर्ताव करना चाहिए।',
  Thai: 'มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ ต่างมีเหตุผลและมโนธรรม และควรปฏิบัติต่อกันด้วยเจตนารมณ์แห่งภราดรภาพ',
  Chinese: '人人生而自由，在尊严和权利上一律平等。他们赋有理性和良心，并应以兄弟关系的精神相对待。',
  Japanese:
    'すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。人間は、理性と良心とを授けられており、互いに同胞の精神をもって行動しなければならない。',
  Korean:
    '모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다. 인간은 천부적으로 이성과 양심을 부여받았으며 서로 형제애의 정신으로 행동하여야 한다.',
  'program text': read('marketplace/chat/models/attempts.ts'),
  Markdown: read('docs/models.md'),
  JSON: read('package.json'),
  'a table': '| a | b | c |\n|---|---|---|\n| 1.25 | -3 | x_y |\n'.repeat(10),
  digits: '31415926535897932384626433832795028841971693993751'.repeat(4),
  emoji: '👋🎉😀😂🚀✨🔥🙏🥳🤖🌍'.repeat(4),
  'hex digits': Buffer.from(Array.from({ length: 600 }, (_, i) => (i * 7_919 + i * i * 31) % 256)).toString('hex'),
}

/** Ranges of characters, first and last. */
const RANGES: Readonly<Record<string, readonly [number, number]>> = {
  'rare Cyrillic': [0x460, 0x52f],
  Armenian: [0x531, 0x58f],
  Hebrew: [0x591, 0x5f4],
  Arabic: [0x600, 0x6ff],
  Syriac: [0x700, 0x74f],
  Thaana: [0x780, 0x7bf],
  NKo: [0x7c0, 0x7ff],
  'Samaritan and Mandaic': [0x800, 0x85f],
  Devanagari: [0x900, 0x97f],
  Bengali: [0x980, 0x9ff],
  Punjabi: [0xa00, 0xa7f],
  Oriya: [0xb00, 0xb7f],
  Tamil: [0xb80, 0xbff],
  Telugu: [0xc00, 0xc7f],
  Malayalam: [0xd00, 0xd7f],
  Sinhala: [0xd80, 0xdff],
  Lao: [0xe80, 0xeff],
  Tibetan: [0xf00, 0xfbf],
  Burmese: [0x1000, 0x109f],
  'parts of Korean letters': [0x1100, 0x11ff],
  Ethiopic: [0x1200, 0x137f],
  Cherokee: [0x13a0, 0x13ff],
  'syllables of Canada': [0x1400, 0x167f],
  Khmer: [0x1780, 0x17ff],
  Mongolian: [0x1800, 0x18af],
  'phonetic letters': [0x1d00, 0x1dbf],
  'ancient Greek': [0x1f00, 0x1fff],
  punctuation: [0x2010, 0x205e],
  'letters as marks': [0x2100, 0x218f],
  arrows: [0x2190, 0x21ff],
  'marks of mathematics': [0x2200, 0x22ff],
  'technical marks': [0x2300, 0x23ff],
  'letters in circles': [0x2460, 0x24ff],
  'lines and blocks': [0x2500, 0x259f],
  shapes: [0x25a0, 0x25ff],
  'small pictures': [0x2600, 0x27bf],
  'marks from U+2190 to U+2FFF': [0x2190, 0x2fff],
  braille: [0x2800, 0x28ff],
  'more marks of mathematics': [0x2980, 0x2aff],
  radicals: [0x2e80, 0x2fdf],
  'Chinese marks': [0x3000, 0x303f],
  'letters and months in circles': [0x3200, 0x33ff],
  'rarest Chinese': [0x3400, 0x4dbf],
  Chinese: [0x4e00, 0x9fff],
  Yi: [0xa000, 0xa48f],
  Korean: [0xac00, 0xd7a3],
  "letters of one's own": [0xe000, 0xf8ff],
  'forms of Chinese and Arabic letters': [0xf900, 0xfdff],
  'wide letters': [0xff01, 0xff60],
  'narrow Japanese and Korean': [0xff66, 0xffef],
  'Chinese of the second plane': [0x20000, 0x2a6df],
  'dead scripts': [0x10000, 0x1087f],
}
/** A few characters or pieces of each kind. */
const FEW = {
  'blanks and tabs': [' ', '\t'],
  'blanks and tabs in turn': [' \t'],
  tabs: ['\t'],
  'both ends of lines': ['\n', '\r'],
  'ends of lines of both sorts': ['\n', '\r\n'],
  'returns alone': ['\r'],
  'all blanks': [' ', '\t', '\n', '\r'],
  controls: Array.from({ length: 8 }, (_, i) => String.fromCharCode(i)),
  'common marks': [...'–—‘’“”•…€™←↑→↓√∞≈≤≥─│├█░■□▲▼◆○●★☆♥✓❤➡、。「」'],
  'common Chinese': [...'的一是不了人我在有他这中大来上国个到说们为子和你地出道也时年'],
  'rare Latin letters in words': [...'ẴẲẪẼỠỖỴỸỺỻỼỽ '],
  'rare Georgian letters in words': [...'ჱჴჶჺ '],
  'rare Cyrillic letters in words': [...'ЀЍѐѝЃЌЏ '],
  'rare Greek letters in words': [...'ΪΫΏΰΊΉΎ '],
  'rare Japanese letters': [...'ゐゑゎヷゟ'],
  'numbers apart': ['1 ', '23 ', '456 '],
  'common Korean': [...'이다는을가에의고하한지사로기도자시대서리나인어아를정그부해'],
}

/** Pseudo-random text, the same in every run. */
function drawn(draw: (random: () => number) => string, count = 3_000): string {
  let seed = 1
  const random = (): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31
    return seed / 2 ** 31
  }
  return Array.from({ length: count }, () => draw(random)).join('')
}

describe('the estimate of tokens', () => {
  it.each(Object.entries(TEXTS))('is within a quarter of what the encoding o200k_base counts: %s', (_, text) => {
    const counted = countTokens(text)
    expect(Math.abs(estimatedTokens(text) - counted) / counted).toBeLessThan(0.25)
  })

  it.each(Object.entries(TEXTS))('grows with a text, however long it is: %s', (_, text) => {
    const times = Math.ceil(1_000_000 / text.length)
    const once = estimatedTokens(`${text} `.repeat(3)) / 3
    const long = `${text} `.repeat(times)
    // The pieces begin at random places. One estimate of the Markdown has a standard deviation of 1.6 %, the mean of four 0.8 %.
    const mean = Array.from({ length: 4 }, () => estimatedTokens(long)).reduce((sum, tokens) => sum + tokens) / 4
    expect(Math.abs(mean / (once * times) - 1)).toBeLessThan(0.05)
  })

  it('sees what is between the places where a text was looked at before', () => {
    const [length, piece, pieces] = [450_000, 4_096, 32]
    const letters = Array.from({ length }, (_, i) => String.fromCharCode(0xa000 + (i % 1_000)))
    for (let i = 0; i < pieces; i++)
      letters.fill(
        ' ',
        Math.floor((i * (length - piece)) / (pieces - 1)),
        Math.floor((i * (length - piece)) / (pieces - 1)) + piece,
      )
    const text = letters.join('')
    const inParts = Array.from({ length: 4 }, (_, i) => estimatedTokens(text.slice(i * 112_500, (i + 1) * 112_500)))
    expect(estimatedTokens(text)).toBeGreaterThan(inParts.reduce((sum, tokens) => sum + tokens) / 2)
  })

  it.each(Object.entries(RANGES))('counts at least half of letters at random: %s', (_, [first, last]) => {
    const text = drawn((random) => String.fromCodePoint(first + Math.floor(random() * (last + 1 - first))))
    expect(estimatedTokens(text)).toBeGreaterThan(countTokens(text) / 2)
  })

  it.each(Object.entries(FEW))('counts at least half of a few letters at random: %s', (_, letters) => {
    const text = drawn((random) => letters[Math.floor(random() * letters.length)] as string)
    expect(estimatedTokens(text)).toBeGreaterThan(countTokens(text) / 2)
  })

  it.each([
    ['rare letters among common ones', '人人生而自由鱻鱻靐齉在尊严和权利上一律平等', 1.5],
    ['Kazakh', 'Барлық адамдар тумысынан азат және қадір-қасиеті мен құқықтары тең болып дүниеге келеді.', 1.25],
    ['Amharic', 'የሰው ልጅ ሁሉ ሲወለድ ነጻና በክብርና በመብትም እኩልነት ያለው ነው።', 1.25],
    ['lines of a table', '┌──────────┬──────────┐\n│ name     │ value    │\n├──────────┼──────────┤\n', 1.6],
    ['a tree of files', 'src\n├── main.ts\n├── models\n│   ├── tokens.ts\n│   └── usage.ts\n└── test\n', 1.6],
    ['typographic marks', '“It’s a ‘quote’ — really…” • first • second → third ✓ done ★★★☆☆ €20 ™', 1.25],
  ])('is not above it by much either: %s', (_, text, times) => {
    expect(estimatedTokens(text)).toBeLessThan(countTokens(text) * times)
  })

  it.each(Object.entries(TEXTS))('counts as much with the ends of lines of Windows: %s', (_, text) => {
    const lines = text.replaceAll('. ', '.\n')
    expect(estimatedTokens(lines.replaceAll('\n', '\r\n'))).toBe(estimatedTokens(lines))
  })

  it.each([
    [450_000, 512],
    [450_000, 2_048],
    [2_000_000, 2_048],
  ])('sees what is at the borders of its parts: of %d letters, %d at each side', (length, width) => {
    const part = length / 32
    const isAtBorder = (at: number): boolean => at % part < width || at % part >= part - width
    const text = Array.from({ length }, (_, at) => (isAtBorder(at) ? String.fromCharCode(0xa000 + (at % 999)) : ' '))
    const pieces = Array.from({ length: Math.ceil(length / 100_000) }, (_, i) =>
      estimatedTokens(text.slice(i * 100_000, (i + 1) * 100_000).join('')),
    )
    const exact = pieces.reduce((sum, tokens) => sum + tokens)
    const whole = text.join('')
    const drawn = Array.from({ length: 61 }, () => estimatedTokens(whole)).sort((one, other) => one - other)
    expect((drawn[30] as number) / exact).toBeGreaterThan(1 / 1.5)
    expect((drawn[30] as number) / exact).toBeLessThan(1.5)
  })

  it('reads the end of a text and its beginning as often as all else', () => {
    for (const pad of ['padStart', 'padEnd'] as const) {
      const text = 'ꀀꀁ'.repeat(2_048)[pad](131_073)
      const mean = Array.from({ length: 200 }, () => estimatedTokens(text)).reduce((sum, tokens) => sum + tokens) / 200
      expect(mean / estimatedTokens(text.trim())).toBeGreaterThan(0.6)
    }
  })

  it('of nothing is nothing, and of anything else something', () => {
    expect(estimatedTokens('')).toBe(0)
    for (const text of ['a', '.', '\n', '你', '👋', '\ud800']) expect(estimatedTokens(text)).toBeGreaterThan(0)
  })
})

describe('the estimate of a conversation', () => {
  const of = (content: unknown): number => estimatedPrompt([{ role: 'user', content }])

  it('counts pictures by their detail, and neither their bytes nor what is no text', () => {
    const picture = (detail?: string) => [
      { type: 'image_url', image_url: { url: `data:${'A'.repeat(100_000)}`, detail } },
    ]
    expect(of(picture('low'))).toBe(4 + 85)
    expect(of(picture())).toBe(4 + 765)
    expect(of([...picture('high'), { type: 'text', text: 'Hello' }])).toBe(4 + 765 + 1)
    expect([of(null), of([null, 1, {}]), of({})]).toEqual([4, 4, 4])
    // The type of a part decides how it is counted, whatever other fields the part has.
    expect(of(picture().map((part) => ({ ...part, text: 'Hello' })))).toBe(4 + 765 + 1)
  })

  it('counts the tools that are offered, and the calls of them', () => {
    const tool = { type: 'function', function: { name: 'look', description: 'word '.repeat(100) } }
    expect(estimatedPrompt([], { tools: [tool] })).toBeGreaterThan(100)
    const calls = [{ id: 'a', type: 'function', function: { name: 'look', arguments: 'word '.repeat(100) } }]
    expect(estimatedPrompt([{ role: 'assistant', content: null, tool_calls: calls }])).toBeGreaterThan(100)
    // A value that is not a list of calls is sent to the model too.
    for (const unlike of [{ a: calls[0] }, 'word '.repeat(100)])
      expect(estimatedPrompt([{ role: 'user', content: 'Hello', tool_calls: unlike }])).toBeGreaterThan(100)
  })

  it('counts names, of which there can be more than of words', () => {
    const rare = 'ѪѬѮѰ'.repeat(16)
    const least = 0.8 * estimatedTokens(rare)
    expect(estimatedPrompt([{ role: 'user', content: '', name: rare }])).toBeGreaterThan(least)
    expect(estimatedPrompt([{ role: 'tool', content: '', tool_call_id: rare }])).toBeGreaterThan(least)
  })
})
