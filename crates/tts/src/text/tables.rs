//! What is looked up: months, units, abbreviations, names that are numbered.

use super::numbers::Language;

/// Months: English name, English short form, French name, French short form.
pub(crate) const MONTHS: [(&str, &str, &str, &str); 12] = [
    ("January", "Jan", "janvier", "janv"),
    ("February", "Feb", "février", "févr"),
    ("March", "Mar", "mars", "mars"),
    ("April", "Apr", "avril", "avr"),
    ("May", "May", "mai", "mai"),
    ("June", "Jun", "juin", "juin"),
    ("July", "Jul", "juillet", "juil"),
    ("August", "Aug", "août", "août"),
    ("September", "Sep", "septembre", "sept"),
    ("October", "Oct", "octobre", "oct"),
    ("November", "Nov", "novembre", "nov"),
    ("December", "Dec", "décembre", "déc"),
];

/// A month by number, 1 to 12.
pub(crate) fn month(number: u64, language: Language) -> Option<&'static str> {
    let index = usize::try_from(number).ok()?.checked_sub(1)?;
    MONTHS.get(index).map(|(english, _, french, _)| language.pick(english, french))
}

/// A month by its name or short form, in the language.
pub(crate) fn month_named(name: &str, language: Language) -> Option<&'static str> {
    let name = name.trim_end_matches('.').to_lowercase();
    let found = MONTHS.iter().find(|(english, short, french, court)| match language {
        Language::English => {
            english.to_lowercase() == name || short.to_lowercase() == name || name == "sept" && *short == "Sep"
        }
        Language::French => *french == name || *court == name,
    })?;
    Some(language.pick(found.0, found.2))
}

/// A unit in words.
pub(crate) struct Unit {
    /// How it is written.
    pub(crate) symbol: &'static str,
    english: (&'static str, &'static str),
    french: (&'static str, &'static str),
    /// Whether the French word is feminine.
    pub(crate) is_feminine: bool,
}

impl Unit {
    /// Singular or plural.
    pub(crate) fn word(&self, plural: bool, language: Language) -> &'static str {
        let (one, many) = if language == Language::French { self.french } else { self.english };
        if plural { many } else { one }
    }
}

const fn unit(
    symbol: &'static str,
    english: (&'static str, &'static str),
    french: (&'static str, &'static str),
) -> Unit {
    Unit { symbol, english, french, is_feminine: false }
}

const fn feminine(
    symbol: &'static str,
    english: (&'static str, &'static str),
    french: (&'static str, &'static str),
) -> Unit {
    Unit { symbol, english, french, is_feminine: true }
}

/// Units, longer symbols before those they begin with.
pub(crate) const UNITS: &[Unit] = &[
    unit("km/h", ("kilometer per hour", "kilometers per hour"), ("kilomètre à l'heure", "kilomètres à l'heure")),
    unit("m/s", ("meter per second", "meters per second"), ("mètre par seconde", "mètres par seconde")),
    unit("km²", ("square kilometer", "square kilometers"), ("kilomètre carré", "kilomètres carrés")),
    unit("m²", ("square meter", "square meters"), ("mètre carré", "mètres carrés")),
    unit("m³", ("cubic meter", "cubic meters"), ("mètre cube", "mètres cubes")),
    unit("kWh", ("kilowatt hour", "kilowatt hours"), ("kilowattheure", "kilowattheures")),
    unit("°C", ("degree Celsius", "degrees Celsius"), ("degré Celsius", "degrés Celsius")),
    unit("°F", ("degree Fahrenheit", "degrees Fahrenheit"), ("degré Fahrenheit", "degrés Fahrenheit")),
    unit("mph", ("mile per hour", "miles per hour"), ("mile à l'heure", "miles à l'heure")),
    unit("min", ("minute", "minutes"), ("minute", "minutes")).feminine(),
    unit("kHz", ("kilohertz", "kilohertz"), ("kilohertz", "kilohertz")),
    unit("MHz", ("megahertz", "megahertz"), ("mégahertz", "mégahertz")),
    unit("GHz", ("gigahertz", "gigahertz"), ("gigahertz", "gigahertz")),
    unit("Hz", ("hertz", "hertz"), ("hertz", "hertz")),
    unit("km", ("kilometer", "kilometers"), ("kilomètre", "kilomètres")),
    unit("cm", ("centimeter", "centimeters"), ("centimètre", "centimètres")),
    unit("mm", ("millimeter", "millimeters"), ("millimètre", "millimètres")),
    unit("kg", ("kilogram", "kilograms"), ("kilogramme", "kilogrammes")),
    unit("mg", ("milligram", "milligrams"), ("milligramme", "milligrammes")),
    unit("kW", ("kilowatt", "kilowatts"), ("kilowatt", "kilowatts")),
    unit("MW", ("megawatt", "megawatts"), ("mégawatt", "mégawatts")),
    unit("mL", ("milliliter", "milliliters"), ("millilitre", "millilitres")),
    unit("ml", ("milliliter", "milliliters"), ("millilitre", "millilitres")),
    unit("cl", ("centiliter", "centiliters"), ("centilitre", "centilitres")),
    unit("kB", ("kilobyte", "kilobytes"), ("kilo-octet", "kilo-octets")),
    unit("KB", ("kilobyte", "kilobytes"), ("kilo-octet", "kilo-octets")),
    unit("MB", ("megabyte", "megabytes"), ("mégaoctet", "mégaoctets")),
    unit("GB", ("gigabyte", "gigabytes"), ("gigaoctet", "gigaoctets")),
    unit("TB", ("terabyte", "terabytes"), ("téraoctet", "téraoctets")),
    unit("ko", ("kilobyte", "kilobytes"), ("kilo-octet", "kilo-octets")),
    unit("Ko", ("kilobyte", "kilobytes"), ("kilo-octet", "kilo-octets")),
    unit("Mo", ("megabyte", "megabytes"), ("mégaoctet", "mégaoctets")),
    unit("Go", ("gigabyte", "gigabytes"), ("gigaoctet", "gigaoctets")),
    unit("To", ("terabyte", "terabytes"), ("téraoctet", "téraoctets")),
    unit("dB", ("decibel", "decibels"), ("décibel", "décibels")),
    feminine("ms", ("millisecond", "milliseconds"), ("milliseconde", "millisecondes")),
    unit("px", ("pixel", "pixels"), ("pixel", "pixels")),
    feminine("lb", ("pound", "pounds"), ("livre", "livres")),
    feminine("oz", ("ounce", "ounces"), ("once", "onces")),
    unit("ft", ("foot", "feet"), ("pied", "pieds")),
    unit("mi", ("mile", "miles"), ("mile", "miles")),
    unit("°", ("degree", "degrees"), ("degré", "degrés")),
    unit("g", ("gram", "grams"), ("gramme", "grammes")),
    feminine("h", ("hour", "hours"), ("heure", "heures")),
    feminine("s", ("second", "seconds"), ("seconde", "secondes")),
    unit("m", ("meter", "meters"), ("mètre", "mètres")),
    unit("L", ("liter", "liters"), ("litre", "litres")),
    unit("l", ("liter", "liters"), ("litre", "litres")),
    unit("W", ("watt", "watts"), ("watt", "watts")),
    unit("V", ("volt", "volts"), ("volt", "volts")),
];

impl Unit {
    const fn feminine(self) -> Self {
        Self { is_feminine: true, ..self }
    }
}

/// A currency: its signs and codes, and its words.
pub(crate) struct Currency {
    pub(crate) signs: &'static [&'static str],
    english: [&'static str; 4],
    french: [&'static str; 4],
    pub(crate) is_feminine: bool,
}

impl Currency {
    /// One, many, one hundredth, many hundredths.
    pub(crate) fn words(&self, language: Language) -> [&'static str; 4] {
        if language == Language::French { self.french } else { self.english }
    }
}

/// The currencies that are known.
pub(crate) const CURRENCIES: &[Currency] = &[
    Currency {
        signs: &["€", "EUR"],
        english: ["euro", "euros", "cent", "cents"],
        french: ["euro", "euros", "centime", "centimes"],
        is_feminine: false,
    },
    Currency {
        signs: &["US$", "USD", "$"],
        english: ["dollar", "dollars", "cent", "cents"],
        french: ["dollar", "dollars", "cent", "cents"],
        is_feminine: false,
    },
    Currency {
        signs: &["£", "GBP"],
        english: ["pound", "pounds", "penny", "pence"],
        french: ["livre", "livres", "penny", "pence"],
        is_feminine: true,
    },
    Currency {
        signs: &["¥", "JPY"],
        english: ["yen", "yen", "sen", "sen"],
        french: ["yen", "yens", "sen", "sens"],
        is_feminine: false,
    },
    Currency {
        signs: &["CHF"],
        english: ["Swiss franc", "Swiss francs", "centime", "centimes"],
        french: ["franc suisse", "francs suisses", "centime", "centimes"],
        is_feminine: false,
    },
];

/// Abbreviations that end in a full stop and what is said instead.
pub(crate) const ENGLISH_ABBREVIATIONS: &[(&str, &str)] = &[
    ("Mr.", "Mister"),
    ("Mrs.", "Missus"),
    ("Ms.", "Miz"),
    ("Dr.", "Doctor"),
    ("Prof.", "Professor"),
    ("Sr.", "Senior"),
    ("Jr.", "Junior"),
    ("e.g.", "for example"),
    ("i.e.", "that is"),
    ("etc.", "et cetera"),
    ("vs.", "versus"),
    ("approx.", "approximately"),
    ("dept.", "department"),
    ("Inc.", "Incorporated"),
    ("Ltd.", "Limited"),
    ("Fig.", "Figure"),
    ("fig.", "figure"),
    ("a.m.", "a m"),
    ("p.m.", "p m"),
    ("max.", "maximum"),
    ("min.", "minimum"),
    ("No.", "number"),
    ("Vol.", "volume"),
    ("pp.", "pages"),
    ("p.", "page"),
];

/// The French ones.
pub(crate) const FRENCH_ABBREVIATIONS: &[(&str, &str)] = &[
    ("MM.", "messieurs"),
    ("M.", "monsieur"),
    ("Mme.", "madame"),
    ("Dr.", "docteur"),
    ("p. ex.", "par exemple"),
    ("par ex.", "par exemple"),
    ("c.-à-d.", "c'est-à-dire"),
    ("etc.", "et cetera"),
    ("av. J.-C.", "avant Jésus-Christ"),
    ("apr. J.-C.", "après Jésus-Christ"),
    ("env.", "environ"),
    ("tél.", "téléphone"),
    ("Tél.", "téléphone"),
    ("bd.", "boulevard"),
    ("av.", "avenue"),
    ("max.", "maximum"),
    ("min.", "minimum"),
    ("vol.", "volume"),
    ("pp.", "pages"),
    ("p.", "page"),
];

/// French short forms without a full stop.
pub(crate) const FRENCH_SHORT: &[(&str, &str)] = &[
    ("Mme", "madame"),
    ("Mmes", "mesdames"),
    ("Mlle", "mademoiselle"),
    ("Dr", "docteur"),
    ("Pr", "professeur"),
    ("Me", "maître"),
    ("Ste", "sainte"),
    ("vs", "contre"),
];

/// English ones.
pub(crate) const ENGLISH_SHORT: &[(&str, &str)] =
    &[("Mr", "Mister"), ("Mrs", "Missus"), ("Dr", "Doctor"), ("vs", "versus")];

/// Names of rulers and popes, after which a Roman numeral counts persons.
pub(crate) const RULERS: &[&str] = &[
    "Louis",
    "Henry",
    "Henri",
    "George",
    "Georges",
    "Elizabeth",
    "Élisabeth",
    "Charles",
    "James",
    "Jacques",
    "William",
    "Guillaume",
    "Edward",
    "Édouard",
    "Richard",
    "Philip",
    "Philippe",
    "Paul",
    "Jean-Paul",
    "Pius",
    "Pie",
    "Benedict",
    "Benoît",
    "Francis",
    "François",
    "Napoleon",
    "Napoléon",
    "Catherine",
    "Peter",
    "Pierre",
    "Nicholas",
    "Nicolas",
    "Frederick",
    "Frédéric",
    "Alexander",
    "Alexandre",
    "Leo",
    "Léon",
    "Gregory",
    "Grégoire",
    "Ramses",
    "Ramsès",
];

/// French feminine nouns before which one is `une`; plurals are made with s.
pub(crate) const FEMININE_NOUNS: &[&str] = &[
    "personne",
    "heure",
    "minute",
    "seconde",
    "page",
    "ligne",
    "semaine",
    "année",
    "journée",
    "tâche",
    "erreur",
    "question",
    "réponse",
    "voiture",
    "maison",
    "chose",
    "table",
    "image",
    "photo",
    "chanson",
    "étape",
    "tasse",
    "cuillère",
    "option",
    "note",
    "liste",
    "réunion",
    "alarme",
    "clé",
    "porte",
    "fenêtre",
    "lampe",
    "pièce",
    "phrase",
    "lettre",
    "case",
    "partie",
    "bouteille",
    "livre sterling",
    "tonne",
    "calorie",
    "fonction",
    "commande",
    "version",
    "vidéo",
    "fille",
    "femme",
    "fois",
];
