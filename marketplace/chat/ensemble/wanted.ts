import { wordsOf } from './words.ts'

/** What a text asks to create: a creative work or a program. */
export type Wanted = 'creative' | 'code'

const SENTENCES_MAX = 40
const VERBS_MAX = 24
/** Most words of the object to create: "a very short bedtime story". */
const OBJECT_WORDS_MAX = 8
/** The object, and words such as "me" or "up with" before it. */
const AHEAD_WORDS_MAX = OBJECT_WORDS_MAX + 4
/** A text opens with a form (poem, story, letter) if one of this many first words is a form: "a very short story about". */
const OPENING_WORDS_MAX = 4

function wordSet(words: string): ReadonlySet<string> {
  return new Set(words.split(' '))
}

const MAKING = wordSet(
  'write compose draft create make generate produce invent craft design build code program pen develop suggest prepare ' +
    'schreibe schreib verfasse erstelle entwirf erfinde dichte programmiere écris rédige crée compose imagine invente escribe redacta crea ' +
    'inventa compón scrivi crea componi escreva crie componha напиши сочини придумай создай napisz schrijf yaz',
)
const GIVING = wordSet(
  'tell give need want erzähl erzähle gib raconte donne cuéntame cuenta dame raccontami dammi conte расскажи дай vertel',
)
/** Skipped between a verb and its object: "write me", "make up", "come up with". */
const PARTICLES = wordSet('me us up with of please my mir uns bitte moi nous')
const ASKING = wordSet(
  'who whose whom when where which what why how did does do is are was were has have had am wer wann wo welche welcher warum wie was ' +
    'qui quand où quel quelle pourquoi comment quién cuándo dónde cuál qué chi quando dove quem onde кто когда где какой',
)
/** Verbs of working on something that exists. */
const TAKING = wordSet(
  'solve explain answer translate summarize summarise analyze analyse read review find recommend describe compare interpret check correct löse ' +
    'erkläre übersetze résous explique traduis explica traduce spiega traduci реши объясни переведи',
)
const STOPS = wordSet(
  'about for on in of to that which who whose with from as between where using by if because so über von für mit zum zur auf aus das dass ' +
    'sur pour de du des qui que dans avec sobre para con por da per di su про о об на для из к',
)
const FORMS = wordSet(
  'poem poems haiku haikus sonnet sonnets limerick limericks ode verse verses ballad story stories tale fairytale fable novel novella lyrics ' +
    'song songs rap jingle essay screenplay dialogue monologue soliloquy speech toast eulogy slogan slogans tagline taglines catchphrase ' +
    'caption captions blogpost newsletter letter email mail invitation obituary biography bio joke jokes pun puns skit ' +
    'gedicht gedichte märchen geschichte liedtext lied aufsatz rede slogan brief witz poème histoire conte chanson discours lettre blague ' +
    'poema cuento historia canción ensayo discurso carta chiste poesia racconto favola canzone discorso lettera conto canção redação carta ' +
    'стих стихотворение сказку рассказ историю песню сочинение письмо шутку wiersz gedicht verhaal şiir',
)
/** Forms that count only if they are to be created, or are for something. */
const WEAK_FORMS = wordSet(
  'riddle riddles post article message card note name names nickname nicknames title titles idea ideas description review scene chapter plot character ad advert ' +
    'announcement motto wish wishes game text namen titel ideen noms idées nombres ideas nomi idee',
)
const PROGRAMS = wordSet(
  'code function method class script program algorithm generator validator parser checker converter scraper crawler bot calculator server client ' +
    'compiler app cli tool query regex regexp component website webpage page endpoint api test tests macro plugin extension module library ' +
    'dockerfile loop decorator middleware dashboard schema migration funktion klasse skript programm fonction programme función programa ' +
    'funzione programma função скрипт программу функцию код algorithmus algorithme algoritmo',
)
const ABOUT = wordSet('about on for of to über auf an für sur pour sobre para su per про о')
const FOR = wordSet('for about für über pour sur para sobre для про')
const SENTENCE = /[.!?:;\n。！？]+/u

/** `text` is in lower case. The object of the verb decides, not what the work is about. */
export function wantedIn(text: string): Wanted | null {
  const sentences = text.split(SENTENCE, SENTENCES_MAX).map(wordsOf)
  const [first = []] = sentences
  if (opensWithForm(first)) return 'creative'
  let verbs = 0
  for (const words of sentences) {
    if (ASKING.has(words[0] ?? '')) continue
    for (const [i, verb] of words.entries()) {
      const isMade = MAKING.has(verb) || (verb === 'come' && words[i + 1] === 'up')
      if (!isMade && !GIVING.has(verb)) continue
      verbs += 1
      const thing = verbs > VERBS_MAX ? null : thingIn(words.slice(i + 1, i + 1 + AHEAD_WORDS_MAX), isMade)
      if (thing !== null) return thing
    }
  }
  return null
}

/** Such as "short story about rust", "a haiku". */
function opensWithForm(words: readonly string[]): boolean {
  if (ASKING.has(words[0] ?? '') || TAKING.has(words[0] ?? '')) return false
  const at = words.slice(0, OPENING_WORDS_MAX).findIndex((word) => FORMS.has(word))
  if (at < 0) return false
  const next = words[at + 1]
  return next === undefined ? at > 0 || words.length === 1 : ABOUT.has(next) && next !== 'of' && next !== 'to'
}

/** The last form or program before the subject matter. Null if there is none. */
function thingIn(words: readonly string[], isMade: boolean): Wanted | null {
  const start = words.findIndex((word) => !PARTICLES.has(word))
  if (start < 0) return null
  const rest = words.slice(start, start + OBJECT_WORDS_MAX)
  const stop = rest.findIndex((word) => STOPS.has(word))
  const object = stop < 0 ? rest : rest.slice(0, stop)
  const isFor = stop >= 0 && FOR.has(rest[stop] as string)
  const isThing = (word: string): boolean =>
    FORMS.has(word) || (isMade && PROGRAMS.has(word)) || (WEAK_FORMS.has(word) && (isMade || isFor))
  const thing = object.findLast(isThing)
  if (thing === undefined) return null
  return PROGRAMS.has(thing) ? 'code' : 'creative'
}
