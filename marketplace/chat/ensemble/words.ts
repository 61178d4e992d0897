/** Words that tell what a question is about, by language; those of languages without spaces are found anywhere. */
interface WordTable {
  /** Whole words and phrases, separated by commas. */
  readonly spaced: Readonly<Record<string, string>>
  /** The same for Chinese, Japanese, Korean and Thai. */
  readonly unspaced?: string
}

const GREETING: WordTable = {
  spaced: {
    en: 'hi, hello, hey, hiya, yo, howdy, greetings, good morning, good afternoon, good evening, good night, thanks, thank you, thx, bye, goodbye, see you, how are you, how are you doing, whats up, what is up, nice to meet you, ok, okay, cool, great',
    de: 'hallo, guten tag, guten morgen, guten abend, gute nacht, servus, moin, grüß gott, danke, vielen dank, tschüss, auf wiedersehen, wie geht es dir, wie gehts',
    fr: 'bonjour, salut, bonsoir, coucou, merci, merci beaucoup, au revoir, ça va, comment ça va',
    es: 'hola, buenos días, buenas tardes, buenas noches, buenas, gracias, muchas gracias, adiós, qué tal, cómo estás',
    it: 'ciao, buongiorno, buonasera, salve, grazie, arrivederci, come stai, come va',
    pt: 'olá, oi, bom dia, boa tarde, boa noite, obrigado, obrigada, tchau, tudo bem',
    nl: 'hoi, goedemorgen, goedemiddag, goedenavond, dank je, bedankt, hoe gaat het',
    pl: 'cześć, dzień dobry, dobry wieczór, dziękuję, do widzenia',
    tr: 'merhaba, selam, günaydın, teşekkürler, nasılsın',
    ru: 'привет, здравствуйте, здравствуй, добрый день, доброе утро, добрый вечер, спасибо, пока, как дела',
    uk: 'привіт, добрий день, дякую',
    ar: 'مرحبا, السلام عليكم, اهلا, شكرا, صباح الخير, مساء الخير',
    he: 'שלום, תודה',
    hi: 'नमस्ते, धन्यवाद',
  },
  unspaced:
    '你好, 您好, 嗨, 早上好, 晚上好, 谢谢, 再见, こんにちは, こんばんは, おはよう, ありがとう, 안녕하세요, 안녕, 감사합니다, สวัสดี',
}

const CODE: WordTable = {
  spaced: {
    any: 'python, javascript, typescript, java, kotlin, swift, rust, golang, c++, c#, php, ruby, sql, html, css, bash, powershell, regex, regexp, json, yaml, xml, react, vue, angular, django, flask, nodejs, node.js, npm, docker, dockerfile, kubernetes, git, api, http, async, stdout, stderr, segfault, nullpointerexception, typeerror, syntaxerror, valueerror',
    en: 'code, function, class, method, script, program, algorithm, compiler, compile, debug, bug, refactor, unit test, unit tests, stack trace, traceback, exception, endpoint, database query, web page, website, source code, command line, implement',
    de: 'funktion, klasse, skript, programm, programmiere, quelltext, algorithmus, fehlermeldung, implementiere',
    fr: 'fonction, programme, algorithme, implémente, code source',
    es: 'función, código, programa, algoritmo, implementa',
    it: 'funzione, codice, programma, algoritmo, implementa',
    pt: 'função, código, programa, algoritmo, implemente',
    ru: 'код, функцию, функция, программу, алгоритм, скрипт',
  },
  unspaced:
    '代码, 函数, 编程, 程序, 算法, 脚本, コード, 関数, プログラム, アルゴリズム, 코드, 함수, 프로그램, 알고리즘',
}

const MATH: WordTable = {
  spaced: {
    en: 'solve, equation, equations, integral, integrate, derivative, differentiate, calculate, compute, probability, theorem, prove, proof that, matrix, eigenvalue, eigenvalues, logarithm, polynomial, factorial, prime number, prime numbers, prime factors, modulo, square root, percent of, sum of, how many ways, divisible, least common multiple, greatest common divisor',
    de: 'löse, gleichung, integral, ableitung, berechne, wahrscheinlichkeit, beweise, beweis, wurzel, teilbar',
    fr: 'résous, résoudre, équation, intégrale, dérivée, calcule, calculer, probabilité, démontre, démontrer, racine',
    es: 'resuelve, ecuación, integral, derivada, calcula, probabilidad, demuestra, raíz',
    it: 'risolvi, equazione, integrale, derivata, calcola, probabilità, dimostra, radice',
    pt: 'resolva, equação, integral, derivada, calcule, probabilidade, prove que, raiz',
    ru: 'реши, решите, уравнение, интеграл, производную, производная, вычисли, вычислите, вероятность, докажи, докажите, корень',
  },
  unspaced:
    '求解, 方程, 积分, 导数, 计算, 概率, 证明, 解方程, 方程式, 積分, 微分, 計算, 確率, 証明, 방정식, 적분, 미분, 계산, 확률, 증명',
}

const REASONING: WordTable = {
  spaced: {
    en: 'step by step, logic puzzle, riddle, puzzle, deduce, infer, logically, reason through, think carefully, which of the following, if all, must be true, knights and knaves, how long will it take, how old is, how many are left, weighs, overtakes',
    de: 'schritt für schritt, rätsel, logisch, folgere, wie alt ist, wie lange dauert',
    fr: 'étape par étape, énigme, logiquement, quel âge, déduis',
    es: 'paso a paso, acertijo, lógicamente, qué edad, deduce',
    it: 'passo dopo passo, passo per passo, indovinello, logicamente, quanti anni',
    pt: 'passo a passo, enigma, logicamente, quantos anos',
    ru: 'шаг за шагом, пошагово, загадка, логически, сколько лет',
  },
  unspaced: '一步一步, 逐步, 推理, 谜题, 逻辑题, 論理, 推論, なぞなぞ, 단계별, 추론, 수수께끼',
}

const CREATIVE: WordTable = {
  spaced: {
    en: 'poem, poems, haiku, sonnet, limerick, story, short story, fairy tale, novel, lyrics, song, essay, screenplay, dialogue, slogan, tagline, blog post, cover letter, speech, toast, brainstorm, rewrite, invent',
    de: 'gedicht, geschichte über, märchen, liedtext, aufsatz, rede, slogan, erfinde, dichte',
    fr: 'poème, histoire courte, conte, chanson, discours, invente, rédige, lettre de motivation',
    es: 'poema, cuento, canción, ensayo, discurso, inventa, redacta, eslogan',
    it: 'poesia, racconto, favola, canzone, discorso, inventa, saggio',
    pt: 'poema, conto, canção, redação, discurso, invente',
    ru: 'стих, стихотворение, сказку, рассказ, песню, сочинение, придумай, сочини',
  },
  unspaced: '写一首, 诗, 故事, 小说, 作文, 歌词, 詩, 物語, 俳句, 小説, 歌詞, 시를, 이야기, 소설, 가사',
}

const KNOWLEDGE: WordTable = {
  spaced: {
    en: 'explain, describe, tell me about, tell me more, teach me, compare, contrast, difference between, differences between, summarize, summarise, overview, analyze, analyse, discuss, pros and cons, advantages, history of, in detail, why does, why do, why is, why are, how does, how do, what causes, guide, tutorial, recommend, plan',
    de: 'erkläre, beschreibe, vergleiche, unterschied zwischen, überblick, analysiere, vor- und nachteile, geschichte der, geschichte des, ausführlich, warum, wie funktioniert, anleitung',
    fr: 'explique, décris, compare, différence entre, aperçu, analyse, avantages, histoire de, en détail, pourquoi, comment fonctionne',
    es: 'explica, describe, compara, diferencia entre, resumen, analiza, ventajas, historia de, en detalle, por qué, cómo funciona',
    it: 'spiega, descrivi, confronta, differenza tra, panoramica, analizza, vantaggi, storia di, in dettaglio, perché, come funziona',
    pt: 'explique, descreva, compare, diferença entre, visão geral, analise, vantagens, história de, em detalhe, por que, como funciona',
    ru: 'объясни, объясните, опиши, сравни, разница между, обзор, проанализируй, преимущества, история, подробно, почему, как работает',
  },
  unspaced:
    '解释, 比较, 区别, 为什么, 分析, 详细, 介绍, 説明, 比較, 違い, なぜ, 分析, 詳しく, 설명, 비교, 차이, 왜, 분석',
}

const CURRENT: WordTable = {
  spaced: {
    en: 'today, yesterday, tonight, tomorrow, latest, newest, recent, recently, current, currently, right now, at the moment, this week, this month, this year, last week, last month, news, breaking, headlines, weather, forecast, stock price, share price, exchange rate, price of, score, standings, election results, who won, release date, up to date, as of now',
    de: 'heute, gestern, morgen, neueste, neuesten, aktuell, aktuelle, aktuellen, derzeit, momentan, diese woche, dieses jahr, nachrichten, schlagzeilen, wetter, aktienkurs, wechselkurs, preis von, wer hat gewonnen',
    fr: "aujourd'hui, demain, dernière, dernières, récent, récente, actuel, actuelle, actuellement, en ce moment, cette semaine, cette année, actualités, nouvelles, météo, cours de, taux de change, prix de, qui a gagné",
    es: 'hoy, ayer, mañana, último, última, últimas, reciente, actual, actualmente, ahora mismo, esta semana, este año, noticias, tiempo en, clima, precio de, tipo de cambio, quién ganó',
    it: 'oggi, ieri, domani, ultime, ultimo, recente, attuale, attualmente, questa settimana, notizie, meteo, prezzo di, tasso di cambio, chi ha vinto',
    pt: 'hoje, ontem, amanhã, último, últimas, recente, atual, atualmente, esta semana, notícias, previsão do tempo, preço de, taxa de câmbio, quem ganhou',
    ru: 'сегодня, вчера, завтра, последние, последний, сейчас, текущий, текущая, на этой неделе, новости, погода, курс, цена, кто выиграл',
  },
  unspaced:
    '今天, 昨天, 明天, 最新, 最近, 目前, 现在, 新闻, 天气, 股价, 汇率, 价格, 今日, 昨日, 現在, ニュース, 天気, 株価, 為替, 오늘, 어제, 최신, 현재, 뉴스, 날씨, 주가, 환율',
}

const FACTUAL: WordTable = {
  spaced: {
    en: 'who is, who was, who are, who were, who invented, who discovered, who wrote, when did, when was, when is, when were, where is, where was, capital of, population of, how many people, how tall is, how high is, how far is, how old is the, what year, which country, which city, president of, prime minister of, ceo of, founder of, founded, born, died, located in, largest, tallest, highest, longest, fastest',
    de: 'wer ist, wer war, wer hat, wann wurde, wann war, wann ist, wo ist, wo liegt, hauptstadt von, einwohner, wie viele menschen, wie hoch ist, präsident von, bundeskanzler, gegründet, geboren',
    fr: 'qui est, qui était, qui a inventé, quand a, où est, où se trouve, capitale de, capitale du, population de, combien de personnes, président de, fondé, né en',
    es: 'quién es, quién fue, quién inventó, cuándo fue, dónde está, capital de, población de, cuántas personas, presidente de, fundado',
    it: 'chi è, chi era, chi ha inventato, quando è, dove si trova, capitale di, popolazione di, quante persone, presidente di, fondata',
    pt: 'quem é, quem foi, quem inventou, quando foi, onde fica, capital de, capital do, população de, quantas pessoas, presidente de',
    ru: 'кто такой, кто такая, кто изобрёл, кто изобрел, когда был, где находится, столица, население, сколько людей, президент',
  },
  unspaced:
    '谁是, 是谁, 什么时候, 在哪里, 首都, 人口, 总统, 创立, 誰ですか, いつ, どこ, 首都は, 人口は, 누구, 언제, 어디, 수도, 인구',
}

/** What a question can mention. */
export type Mention = keyof typeof TABLES

const TABLES = {
  code: CODE,
  math: MATH,
  reasoning: REASONING,
  creative: CREATIVE,
  knowledge: KNOWLEDGE,
  current: CURRENT,
  factual: FACTUAL,
} as const

const WORDS = /[\p{L}\p{N}\p{M}_]+(?:['’.+#-]+[\p{L}\p{N}\p{M}]*)*/gu
/** Signs that are within words, and end none. */
const INNER_SIGNS = "'’.-"
const UNSPACED_SIGNS = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/u

/** Kinds of words by the phrase, its words joined by single spaces. */
const PHRASES: ReadonlyMap<string, readonly Mention[]> = phrasesOf(Object.entries(TABLES) as [Mention, WordTable][])

function wordsIn(list: string): readonly string[] {
  return list.split(',').map((word) => word.trim())
}

function wordsOf(text: string): readonly string[] {
  return (text.match(WORDS) ?? []).map(withoutEnd)
}

/** A word without the signs behind it. An expression would look from each sign on to the end of the word. */
function withoutEnd(word: string): string {
  let end = word.length
  while (end > 0 && INNER_SIGNS.includes(word.charAt(end - 1))) end -= 1
  return word.slice(0, end)
}

function phrasesOf(tables: readonly (readonly [Mention, WordTable])[]): ReadonlyMap<string, readonly Mention[]> {
  const phrases = new Map<string, readonly Mention[]>()
  for (const [mention, { spaced }] of tables)
    for (const phrase of Object.values(spaced).flatMap(wordsIn)) {
      const key = wordsOf(phrase).join(' ')
      phrases.set(key, [...(phrases.get(key) ?? []), mention])
    }
  return phrases
}

/** Words that phrases begin with, and how many words the longest such phrase has. */
const BEGINNINGS: ReadonlyMap<string, number> = beginningsOf([...PHRASES.keys()])

function beginningsOf(phrases: readonly string[]): ReadonlyMap<string, number> {
  const beginnings = new Map<string, number>()
  for (const words of phrases.map((phrase) => phrase.split(' '))) {
    const [first = ''] = words
    beginnings.set(first, Math.max(words.length, beginnings.get(first) ?? 0))
  }
  return beginnings
}

/** What a text, in lower case, mentions: from each word that begins a phrase as many are looked up as that has. */
export function mentionsOf(text: string): ReadonlySet<Mention> {
  const found = new Set<Mention>()
  const words = wordsOf(text)
  for (const [i, first] of words.entries()) {
    const most = BEGINNINGS.get(first) ?? 0
    for (let count = 1; count <= most; count += 1)
      for (const mention of PHRASES.get(words.slice(i, i + count).join(' ')) ?? []) found.add(mention)
  }
  if (UNSPACED_SIGNS.test(text))
    for (const [mention, signs] of UNSPACED) if (signs.some((one) => text.includes(one))) found.add(mention)
  return found
}

const UNSPACED = (Object.entries(TABLES) as [Mention, WordTable][]).map(
  ([mention, { unspaced = '' }]) => [mention, wordsIn(unspaced)] as const,
)

const GREETINGS: ReadonlySet<string> = new Set([
  ...Object.values(GREETING.spaced).flatMap(wordsIn),
  ...wordsIn(GREETING.unspaced ?? ''),
])
/** Names and the like that may follow a greeting. */
const ADDRESSED: ReadonlySet<string> = new Set(
  'there, all, everyone, everybody, friend, friends, again, bot, assistant, buddy, mate, sir, zusammen, leute, tout le monde, a todos, a tutti, всем, 大家'.split(
    ', ',
  ),
)
const GREETING_CHARS_MAX = 60
const GREETING_PARTS_MAX = 3

/** Whether a text, in lower case, is nothing but greetings, thanks or a farewell. */
export function isGreeting(text: string): boolean {
  if (text.length > GREETING_CHARS_MAX) return false
  const parts = text
    .replace(/['’]/gu, '')
    .split(/[.,!?;:…。！？、，¡¿\n]+/u)
    .map((part) =>
      part
        .replace(/[^\p{L}\p{N}\p{M} ]/gu, '')
        .replace(/ +/gu, ' ')
        .trim(),
    )
    .filter((part) => part !== '')
  return parts.length > 0 && parts.length <= GREETING_PARTS_MAX && parts.every(greets)
}

function greets(part: string): boolean {
  if (GREETINGS.has(part)) return true
  const words = part.split(' ')
  // "hello there", "hey friend", "hi hello".
  return words.some((_, i) => {
    const rest = words.slice(i + 1).join(' ')
    return GREETINGS.has(words.slice(0, i + 1).join(' ')) && (ADDRESSED.has(rest) || GREETINGS.has(rest))
  })
}
