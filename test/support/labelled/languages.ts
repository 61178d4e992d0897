/** A short text and its language. */
export interface LabelledLanguage {
  readonly text: string
  /** Primary tags of BCP 47. There are several if a reader could not tell the language either. */
  readonly languages: readonly string[]
}

const of = (language: string, texts: readonly string[]): readonly LabelledLanguage[] =>
  texts.map((text) => ({ text, languages: language.split(' ') }))

/** Texts on which the guess of the language was tuned. */
export const TUNED_LANGUAGES: readonly LabelledLanguage[] = [
  ...of('de', ['Das Wetter ist heute schön.', 'Ich bin sehr zufrieden.', 'Der Akku hält nicht lange.', 'Nie wieder!']),
  ...of('es', [
    'El servicio es muy malo.',
    'Me gusta mucho este libro.',
    'No funciona nada.',
    '¿Dónde está mi pedido?',
  ]),
  ...of('fr', ["C'est une bonne idée.", 'Je suis très content.', 'Le produit ne marche pas.', 'Quelle belle journée!']),
  ...of('it', [
    'Il servizio è pessimo.',
    'Sono molto contento di questo.',
    'Non funziona per niente.',
    'Che bella giornata!',
  ]),
  ...of('pt', ['O atendimento foi muito bom.', 'Não gostei do produto.', 'Está tudo bem com você?']),
  ...of('nl', ['De kamer was erg klein.', 'Ik ben heel blij met dit boek.', 'Het werkt niet goed.']),
  ...of('sv', ['Jag är mycket nöjd.', 'Det här är en bra bok.']),
  ...of('da nb no', ['Jeg er meget glad for den.', 'Det er ikke en god ide.']),
  ...of('pl', ['Jestem bardzo zadowolony.', 'To jest dobra książka.']),
  ...of('tr', ['Bu kitap çok güzel.', 'Hizmet çok kötüydü.']),
  ...of('fi', ['Tämä on hyvä kirja.', 'Olen hyvin iloinen.']),
  ...of('en', [
    'Great phone.',
    'I love it.',
    'not bad',
    'Worst service ever!!!',
    'Arrived late, box damaged.',
    'Nice price, works fine.',
    'The camera is great.',
    'Bitcoin price',
    'machine learning for medical images',
    'lol so good',
    'Five stars',
    'Terrible. Avoid.',
    'Buy milk and eggs',
    'Fast shipping, would order again',
    'What a waste of money',
    'on time and in good shape',
    'me gusta but in english: i like it',
    'He was born in Den Haag.',
  ]),
]

/** Texts that were written before the guess was changed. No threshold was tuned on them, but their author wrote the word lists. */
export const HELD_BACK_LANGUAGES: readonly LabelledLanguage[] = [
  ...of('de', [
    'Die Lieferung kam zu spät.',
    'Wir sind begeistert von dem Hotel.',
    'Leider ist das Gerät kaputt.',
    'Sehr gutes Produkt, gerne wieder.',
    'Niemand hat mir geholfen.',
  ]),
  ...of('es', [
    'La comida estaba deliciosa.',
    'Estoy muy contento con la compra.',
    'El teléfono no sirve para nada.',
    'Todo llegó a tiempo, gracias.',
  ]),
  ...of('fr', [
    'La chambre était sale et froide.',
    'Nous avons adoré cet hôtel.',
    'Je ne recommande pas ce vendeur.',
    'Le livre est arrivé en retard.',
  ]),
  ...of('it', [
    'La camera era sporca e fredda.',
    'Il telefono si è rotto subito.',
    'Siamo stati benissimo in questo albergo.',
    'Consiglio a tutti questo ristorante.',
  ]),
  ...of('pt', ['A entrega chegou com atraso.', 'Eu recomendo esta loja a todos.', 'Não vale o preço que custa.']),
  ...of('nl', ['De levering was te laat.', 'Wij zijn zeer tevreden over het hotel.', 'Dit is een slecht product.']),
  ...of('sv', ['Leveransen var för sen.', 'Vi är inte nöjda med hotellet.']),
  ...of('da nb no', ['Vi er ikke fornøyd med hotellet.', 'Maden var kold og kedelig.']),
  ...of('pl', ['Nie polecam tego sklepu.', 'Obsługa była bardzo miła.']),
  ...of('tr', ['Ürün çok geç geldi.', 'Bu oteli herkese tavsiye ederim.']),
  ...of('fi', ['Huone oli likainen ja kylmä.', 'En suosittele tätä kauppaa.']),
  ...of('id ms', ['Pelayanan sangat buruk dan lama.']),
  ...of('en', [
    'Delivery was late again.',
    'Good value',
    'Love this tent!',
    'Battery dies fast',
    'cheap plastic junk',
    'Would buy again.',
    'Sound quality amazing',
    'proof of work mining difficulty',
    'No complaints.',
    'Best pizza in Naples',
    'Room was dirty and cold',
    'Very disappointed with this purchase',
    'Five of us stayed in Las Palmas.',
    'quarterly earnings report',
    'Does what it says',
    'a total disaster',
  ]),
]
