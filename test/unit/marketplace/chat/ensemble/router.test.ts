import { describe, expect, it } from 'vitest'
import { route, wantsSearch } from '../../../../../marketplace/chat/ensemble/router.ts'

const INSTANT = [
  ...[
    'hi',
    'Hello!',
    'hey there',
    'Hello, how are you?',
    'HELLO',
    'good morning everyone',
    'thanks!',
    'Thank you',
    'ok',
  ],
  ...[
    'Hallo',
    'Guten Morgen!',
    'Danke',
    'Bonjour',
    'Salut, ça va ?',
    '¡Hola!',
    'Buenos días',
    'Ciao',
    'Olá, tudo bem?',
  ],
  ...['Привет!', 'Спасибо', '你好', '谢谢！', 'こんにちは', '안녕하세요', 'مرحبا', 'नमस्ते', 'Merhaba', 'hi 👋'],
]

const FAST = [
  ...['Is a whale a fish?', 'What is the capital of France?', 'Who is the prime minister of Japan?', 'Can cats swim?'],
  ...['Ist Wasser nass?', 'Wer ist der Bundeskanzler?', 'Quelle heure est-il ?', '¿Los gatos saben nadar?'],
  ...['Столица Франции?', '法国的首都是什么？', '猫は泳げますか？', 'Wie wird das Wetter morgen in Berlin?'],
]

const CODE = [
  ...[
    'Write a Python function that reverses a list',
    'Why does `x` fail?\n```js\nconst x =\n```',
    'fix this bug for me',
  ],
  ...[
    'def f(x): return x',
    'Schreibe ein Skript in Bash',
    'Écris une fonction en Rust',
    '用Python写一个函数',
    'SQL query for the top ten',
  ],
  ...[
    'TypeError at main (app.js:12',
    '<div>centre this</div>',
    'Напиши функцию на TypeScript',
    'Rewrite it with async and a class',
  ],
]

const CREATIVE = [
  ...[
    'Write a poem about the sea',
    'Tell me a short story',
    'Ein Gedicht über den Herbst',
    'Écris un poème',
    'Escribe un cuento',
  ],
  ...['写一首关于秋天的诗', '俳句を書いて', 'Сочини сказку про лису', 'Give me a slogan for my bakery'],
]

const KNOWLEDGE = [
  ...['Explain proof of work', 'Compare TCP with UDP', 'Why is the sky blue?', 'Warum ist der Himmel blau?'],
  ...['Explique la photosynthèse', 'Explica la inflación', '为什么天空是蓝色的', 'Объясни квантовую запутанность'],
  'Tell me about the Roman roads and what they were made of, who built them and who paid for it all, and how they were kept up over centuries.',
]

const DEEP = [
  ...[
    'What is 12*(3+4)?',
    'Solve 3x + 5 = 20',
    'Prove that there are infinitely many primes',
    'What is 15 % of 80',
    '2^10 = ?',
  ],
  ...[
    'Löse die Gleichung',
    'Résous 3x + 5 = 11',
    'Calcula la derivada de x^2',
    '计算 12 加 30',
    'Вычисли интеграл',
    '방정식을 풀어',
  ],
  ...['Think step by step: who is the liar?', 'A riddle for you: what walks on four legs at dawn'],
  'Tom has 3 boxes with 12 eggs each and breaks 5 of them. How many are whole?',
]

function tiersOf(questions: readonly string[]): readonly string[] {
  return questions.map((question) => `${question} -> ${route(question).tier}`)
}

function expected(questions: readonly string[], tier: string): readonly string[] {
  return questions.map((question) => `${question} -> ${tier}`)
}

describe('the router of model-4', () => {
  it('knows greetings in many languages', () => {
    expect(tiersOf(INSTANT)).toEqual(expected(INSTANT, 'instant'))
  })

  it('gives short questions to one model', () => {
    expect(tiersOf(FAST)).toEqual(expected(FAST, 'fast'))
  })

  it.each([
    ['code', CODE],
    ['creative', CREATIVE],
    ['knowledge', KNOWLEDGE],
  ] as const)('gives %s to all models', (task, questions) => {
    expect(tiersOf(questions)).toEqual(expected(questions, 'standard'))
    expect(questions.filter((question) => route(question).task !== task)).toEqual([])
  })

  it('has mathematics and reasoning sampled', () => {
    expect(tiersOf(DEEP)).toEqual(expected(DEEP, 'deep'))
    expect(DEEP.filter((question) => !['math', 'reasoning'].includes(route(question).task))).toEqual([])
  })

  it('does not take a greeting with a question behind it for a greeting', () => {
    expect(route('Hi, please write a poem').tier).toBe('standard')
    expect(route('Hello. What is the capital of France?').tier).toBe('fast')
    expect(route('hiking').tier).not.toBe('instant')
  })

  it('looks for whole words', () => {
    expect(route('Are classics dull?').task).toBe('question')
    expect(route('What is a barcode?').task).toBe('question')
  })

  it('says which questions no rule knows', () => {
    expect(route('the sea at night')).toEqual({ tier: 'fast', task: 'question', rule: 'short', open: true })
    expect(route('word '.repeat(60))).toMatchObject({ tier: 'standard', open: true })
    expect(route('Is a whale a fish?').open).toBe(false)
  })

  it('finds what a long question wants at its beginning and at its end', () => {
    const filler = 'lorem ipsum dolor sit amet '.repeat(400)
    expect(route(`${filler} Write a poem about it.`).task).toBe('creative')
    expect(route(`Refactor this function: ${filler}`).task).toBe('code')
  })

  it('takes nothing and images for short questions', () => {
    expect(route('')).toMatchObject({ tier: 'fast', rule: 'empty' })
    expect(route('Write code for this', true)).toMatchObject({ tier: 'fast', task: 'images' })
  })
})

describe('what the web is searched for', () => {
  it.each([
    'latest news about bitcoin',
    'What is the weather in Oslo today?',
    'Who is the prime minister of Japan?',
    'Wer ist der Bundeskanzler?',
    'Quelles sont les actualités ?',
    '今天的新闻',
    'Последние новости',
    'What changed in 2026?',
  ])('%s', (question) => {
    expect(wantsSearch(question)).toBe(true)
  })

  it.each([
    'hi',
    'Write a poem about today',
    'Is a whale a fish?',
    'Solve 2x = 2026',
    'fix the latest version of my code',
  ])('not: %s', (question) => {
    expect(wantsSearch(question)).toBe(false)
  })
})
