import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { moodOf } from '../../../../../src/engines/language/mood.ts'
import { TUNED_COMPARISONS, TUNED_COURTESY } from '../../../../support/labelled/courtesy.ts'
import { TUNED_LETTERS } from '../../../../support/labelled/shop.ts'
import { runs } from '../../../../support/runs.ts'

const polarity = (text: string): number => moodOf({ text }).polarity

describe('the mood of a text', () => {
  it.for([
    ['VADER is smart, handsome, and funny.', 'positive'],
    ['I absolutely love this wallet!', 'positive'],
    ['This is not bad at all.', 'positive'],
    ['Today sucks, but I will get by :)', 'positive'],
    ['great\u{1f525}', 'positive'],
    ['Terrible support, nobody answered my ticket for two weeks.', 'negative'],
    ['The food was good but the service was terrible.', 'negative'],
    ['It is not good.', 'negative'],
    ['They deceived and betrayed us', 'negative'],
    ['The table has four legs and stands in the kitchen.', 'neutral'],
    ['', 'neutral'],
    ['...', 'neutral'],
  ] as const)('%j is %s', ([text, sentiment]) => {
    expect(moodOf({ text }).sentiment).toBe(sentiment)
  })

  it.for([
    'The block height is 10.',
    'The miners burned the gas fees and the pool was slashed.',
    'Orphaned blocks, hard forks and stale shares in the mining pool.',
    'The contract was frozen, the transfer reverted, the vault locked, the stake slashed.',
    'It is likely that the meaning of the contents matters.',
    'The latest argument of the resolver is true, and the broker trusts the goods of a stranger.',
  ])('says nothing of what is ordinary on a chain: %j', (text) => {
    expect(moodOf({ text })).toMatchObject({ sentiment: 'neutral', polarity: 0 })
  })

  it('is louder with boosters, capitals and exclamation marks, and quieter with dampers', () => {
    const plain = polarity('The wallet is good')
    expect(polarity('The wallet is extremely good')).toBeGreaterThan(plain)
    expect(polarity('The wallet is GOOD')).toBeGreaterThan(plain)
    expect(polarity('The wallet is good!')).toBeGreaterThan(plain)
    expect(polarity('The wallet is good!!!')).toBeGreaterThan(polarity('The wallet is good!'))
    expect(polarity('The wallet is good!!!!!!!!')).toBe(polarity('The wallet is good!!!!'))
    expect(polarity('The wallet is slightly good')).toBeLessThan(plain)
    expect(polarity('The wallet is kind of good')).toBeLessThan(plain)
    expect(polarity('THE WALLET IS GOOD')).toBe(plain)
  })

  it('is turned round by a negation near by, and by none far away', () => {
    expect(polarity('It was never good')).toBeLessThan(0)
    expect(polarity("It wasn't really any good")).toBeLessThan(0)
    expect(polarity('It wasn\u2019t good')).toBe(polarity("It wasn't good"))
    expect(polarity('Never was a wallet on any phone good')).toBeGreaterThan(0)
    expect(polarity('Never so good')).toBeGreaterThan(polarity('good'))
    expect(polarity('It is not only good')).toBeGreaterThan(0)
    expect(polarity('It is without doubt the best')).toBeGreaterThan(0)
    expect(polarity('At least good')).toBeGreaterThan(0)
    expect(polarity('The least good')).toBeLessThan(0)
  })

  it.for([
    ["I don't think this is a good phone.", 'negative'],
    ["I don't think this is a bad phone.", 'positive'],
    ['Nobody would call it great.', 'negative'],
    ['It is not only cheap but also beautiful.', 'positive'],
    ['The camera is great, but the battery ruins it.', 'negative'],
    ['Although it is slow, it is a wonderful phone.', 'positive'],
    ['It is a wonderful phone, although it is slow.', 'positive'],
    ["I couldn't be happier.", 'positive'],
    ["I can't recommend her enough.", 'positive'],
    ["I can't recommend her.", 'negative'],
    ['She does not think so. It is a good phone.', 'positive'],
    ["I don't think so, it is a good phone.", 'positive'],
    ['The rooms are lovely. However, the manager was rude.', 'negative'],
    ['Shares of the bank were sold by the holder of its shares.', 'neutral'],
  ] as const)('is turned round by what denies a clause, and by a contrast: %j is %s', ([text, sentiment]) => {
    expect(moodOf({ text }).sentiment).toBe(sentiment)
  })

  it.for(TUNED_LETTERS)('is read in the letters and reviews of a shop: $text', ({ text, sentiment }) => {
    expect(moodOf({ text }).sentiment).toBe(sentiment)
  })

  it.for(TUNED_COMPARISONS)('is read from expectations, other shops and wishes: $text', ({ text, sentiment }) => {
    expect(moodOf({ text }).sentiment).toBe(sentiment)
  })

  it.for(TUNED_COURTESY)('has nothing of the forms of courtesy: $text', ({ text, sentiment, emotions }) => {
    const mood = moodOf({ text })
    expect(mood.sentiment).toBe(sentiment)
    const [first] = mood.emotions
    if (first === undefined) expect(emotions).toEqual([])
    else expect(emotions).toContain(first.emotion)
  })

  it.for([
    ['Thank you!', 'positive'],
    ['I have packed the bowl, thank you.', 'neutral'],
    ['They kindly waited for us.', 'positive'],
    ['Would you kindly wait for us?', 'neutral'],
    ['I am afraid of the kiln.', 'negative'],
    ['I am afraid the kiln is off.', 'neutral'],
    ['It would be great if you called.', 'neutral'],
    ['The call was great.', 'positive'],
    ['It looks like clay.', 'neutral'],
    ['I like clay.', 'positive'],
    ['I would not like to own it.', 'negative'],
    ['Cheaper and better than at other shops.', 'positive'],
    ['Cheaper and better at other shops.', 'negative'],
  ] as const)('tells a form of courtesy from what is meant: %j is %s', ([text, sentiment]) => {
    expect(moodOf({ text }).sentiment).toBe(sentiment)
  })

  it.for([
    ['It could not have been better.', 'positive'],
    ['Nothing could be better than this shop.', 'positive'],
    ['I would have been lost without this guide.', 'positive'],
    ['I could not have expected more.', 'positive'],
    ['I would give 10 stars if I could.', 'positive'],
    ['Good morning, I just wanted to say the vase is lovely.', 'positive'],
    ['Oh, great lamp, I love it. The old one was broken.', 'positive'],
    ['\u2605\u2605\u2605\u2605\u2605', 'positive'],
    ['Not as described.', 'negative'],
    ['0/10', 'negative'],
    ['It stopped working after a week.', 'negative'],
    ['The meeting is on 3/5 at ten in a 5 star hotel.', 'neutral'],
    ['Take 1/5 of the parcels.', 'neutral'],
    ['Could you send the invoice again?', 'neutral'],
  ] as const)('takes no score and no wish for what it is not: %j is %s', ([text, sentiment]) => {
    expect(moodOf({ text }).sentiment).toBe(sentiment)
  })

  it('is that of most sentences', () => {
    const praise = 'The wallet is excellent. '.repeat(9)
    expect(moodOf({ text: `${praise}The icon is ugly.` }).sentiment).toBe('positive')
    expect(polarity('It is good. It is bad.')).toBeCloseTo(0, 1)
  })

  it('is surer with more words that agree', () => {
    const sure = moodOf({ text: 'Excellent, beautiful, fast and honest, simply wonderful' }).confidence
    const unsure = moodOf({ text: 'It is good.' }).confidence
    const torn = moodOf({ text: 'Excellent and beautiful, terrible and ugly, wonderful' }).confidence
    expect(sure).toBeGreaterThan(unsure)
    expect(sure).toBeGreaterThan(torn)
  })

  it.for([
    ['I am so happy, we laughed all evening.', 'joy'],
    ['She wept at the funeral.', 'sadness'],
    ['I am furious and fed up with you.', 'anger'],
    ['We were terrified of the storm.', 'fear'],
    ['The kitchen was filthy and it stank.', 'disgust'],
    ['To my astonishment the door suddenly opened.', 'surprise'],
    ['He is honest and reliable, you can count on him.', 'trust'],
    ["I can't wait, we look forward to the trip.", 'anticipation'],
  ] as const)('of %j is mainly %s', ([text, emotion]) => {
    const [first, ...others] = moodOf({ text }).emotions
    expect(first?.emotion).toBe(emotion)
    for (const { share } of others) expect(share).toBeLessThanOrEqual(first?.share ?? 0)
  })

  it.for([
    'I am not angry.',
    'There was nothing scary about it.',
    'The block was mined at ten.',
    'Nobody was sad.',
    '',
  ])('of %j has no emotion', (text) => {
    expect(moodOf({ text }).emotions).toEqual([])
  })

  it('has no emotions where a long text only mentions one', () => {
    const report = 'The committee met in room four and read the report. '.repeat(30)
    expect(moodOf({ text: `${report}A member was sad.` }).emotions).toEqual([])
  })

  it('has more of an emotion that is louder, and that stands after the turn of a sentence', () => {
    const share = (text: string) => moodOf({ text }).emotions.find(({ emotion }) => emotion === 'fear')?.share ?? 0
    expect(share('I am sad and very scared.')).toBeGreaterThan(share('I am very sad and scared.'))
    expect(share('I was sad but scared.')).toBeGreaterThan(share('I was scared but sad.'))
  })

  it('stays within its bounds whatever the text', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 300 }),
      fc
        .array(
          fc.constantFrom('good', 'BAD', 'not', 'very', '!', '?', 'but', ':)', '\u{1f44e}', 'least', '.', "n't", '-'),
        )
        .map((words) => words.join(' ')),
    )
    fc.assert(
      fc.property(text, (text) => {
        const mood = moodOf({ text })
        expect(Math.abs(mood.polarity)).toBeLessThanOrEqual(1)
        expect(mood.confidence).toBeGreaterThanOrEqual(0)
        expect(mood.confidence).toBeLessThanOrEqual(1)
        const shares = mood.emotions.map(({ share }) => share)
        if (shares.length > 0) expect(shares.reduce((sum, share) => sum + share)).toBeCloseTo(1, 1)
        expect(shares).toEqual([...shares].sort((a, b) => b - a))
        expect(mood.sentiment).toBe(mood.polarity > 0.05 ? 'positive' : mood.polarity < -0.05 ? 'negative' : 'neutral')
      }),
      { numRuns: runs(1_000) },
    )
  })
})
