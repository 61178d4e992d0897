import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { describe, expect, it } from 'vitest'
import { estimatedTokens } from '../../../../marketplace/models/tokens.ts'
import { estimatedPrompt } from '../../../../marketplace/models/usage.ts'
import { ROOT } from '../../../support/source-tree.ts'

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
  'program text': read('marketplace/models/attempts.ts'),
  Markdown: read('docs/models.md'),
  JSON: read('package.json'),
  'a table': '| a | b | c |\n|---|---|---|\n| 1.25 | -3 | x_y |\n'.repeat(10),
  digits: '31415926535897932384626433832795028841971693993751'.repeat(4),
  emoji: '👋🎉😀😂🚀✨🔥🙏🥳🤖🌍'.repeat(4),
  'hex digits': Buffer.from(Array.from({ length: 600 }, (_, i) => (i * 7_919 + i * i * 31) % 256)).toString('hex'),
}

describe('the estimate of tokens', () => {
  it.each(Object.entries(TEXTS))('is within a quarter of what the encoding o200k_base counts: %s', (_, text) => {
    const counted = countTokens(text)
    expect(Math.abs(estimatedTokens(text) - counted) / counted).toBeLessThan(0.25)
  })

  it.each(Object.entries(TEXTS))('grows with a text, however long it is: %s', (_, text) => {
    const times = Math.ceil(1_000_000 / text.length)
    const once = estimatedTokens(`${text} `.repeat(3)) / 3
    expect(Math.abs(estimatedTokens(`${text} `.repeat(times)) / (once * times) - 1)).toBeLessThan(0.05)
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
  })

  it('counts the tools that are offered, and the calls of them', () => {
    const tool = { type: 'function', function: { name: 'look', description: 'word '.repeat(100) } }
    expect(estimatedPrompt([], { tools: [tool] })).toBeGreaterThan(100)
    const calls = [{ id: 'a', type: 'function', function: { name: 'look', arguments: 'word '.repeat(100) } }]
    expect(estimatedPrompt([{ role: 'assistant', content: null, tool_calls: calls }])).toBeGreaterThan(100)
  })
})
