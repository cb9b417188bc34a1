//! Days as numbers, and their text.

/// A day, counted from 1970-01-01.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Day(pub(super) u64);

impl Day {
    /// The day the benchmark's world stands at.
    pub(super) const TODAY: Day = Day::new(2008, 6, 20);

    /// The day of a date (proleptic Gregorian, from 1970 on).
    pub(super) const fn new(year: u64, month: u64, day: u64) -> Day {
        // Years begin in March here, so that the leap day is the last one.
        let (y, m) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
        let day_of_year = (153 * m + 2) / 5 + day - 1;
        Day(y * 365 + y / 4 - y / 100 + y / 400 + day_of_year - 719_468)
    }

    /// Year, month and day.
    pub(super) const fn date(self) -> (u64, u64, u64) {
        let z = self.0 + 719_468;
        let era = z / 146_097;
        let of_era = z % 146_097;
        let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
        let day_of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let m = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * m + 2) / 5 + 1;
        let (month, carry) = if m < 10 { (m + 3, 0) } else { (m - 9, 1) };
        (year_of_era + era * 400 + carry, month, day)
    }

    /// The date as `YYYY-MM-DD`.
    pub(super) fn text(self) -> [u8; 10] {
        let (year, month, day) = self.date();
        let digit = |n: u64| b'0' + (n % 10) as u8;
        [
            digit(year / 1000),
            digit(year / 100),
            digit(year / 10),
            digit(year),
            b'-',
            digit(month / 10),
            digit(month),
            b'-',
            digit(day / 10),
            digit(day),
        ]
    }
}

impl std::fmt::Display for Day {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (year, month, day) = self.date();
        write!(f, "{year:04}-{month:02}-{day:02}")
    }
}
