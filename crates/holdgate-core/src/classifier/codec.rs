//! Bytes of models: a head with a version and a checksum, then numbers. Reading is total.

/// Bytes before the content.
const HEAD: usize = 16;

/// Why bytes are not a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadModel {
    /// They do not begin like one.
    #[error("the file is not a model of the classifier")]
    NotAModel,
    /// Another version wrote them.
    #[error("the model has version {0}, which this version cannot read")]
    Version(u32),
    /// Bytes are missing, or changed.
    #[error("the model is damaged: its checksum does not match")]
    Damaged,
    /// The checksum is right, and the content makes no sense.
    #[error("the model is not valid: {0}")]
    Invalid(&'static str),
}

/// Writes a model.
#[derive(Debug, Default)]
pub(crate) struct Writer(Vec<u8>);

impl Writer {
    pub(crate) fn u8s(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    pub(crate) fn u16(&mut self, number: u16) {
        self.u8s(&number.to_le_bytes());
    }

    pub(crate) fn u32(&mut self, number: u32) {
        self.u8s(&number.to_le_bytes());
    }

    pub(crate) fn u64(&mut self, number: u64) {
        self.u8s(&number.to_le_bytes());
    }

    pub(crate) fn f32(&mut self, number: f32) {
        self.u32(number.to_bits());
    }

    pub(crate) fn length(&mut self, length: usize) {
        self.u32(u32::try_from(length).unwrap_or(u32::MAX));
    }

    /// Numbers in rising order, as the distances between them.
    pub(crate) fn rising(&mut self, numbers: &[u32]) {
        self.length(numbers.len());
        let mut before = 0;
        for number in numbers {
            let mut distance = number.wrapping_sub(before);
            before = *number;
            while distance >= 0x80 {
                self.0.push(distance.to_le_bytes()[0] | 0x80);
                distance >>= 7;
            }
            self.0.push(distance.to_le_bytes()[0]);
        }
    }

    /// The whole file.
    pub(crate) fn file(self, magic: [u8; 4], version: u32) -> Vec<u8> {
        let mut file = Writer(Vec::with_capacity(HEAD + self.0.len()));
        file.u8s(&magic);
        file.u32(version);
        file.length(self.0.len());
        file.u32(crc32fast::hash(&self.0));
        file.u8s(&self.0);
        file.0
    }
}

/// Reads a model.
#[derive(Debug)]
pub(crate) struct Reader<'b>(&'b [u8]);

impl<'b> Reader<'b> {
    /// The content of a file.
    pub(crate) fn open(
        bytes: &'b [u8],
        magic: [u8; 4],
        version: u32,
    ) -> Result<Reader<'b>, BadModel> {
        let mut file = Reader(bytes);
        if file.take(4).map_err(|_| BadModel::NotAModel)? != magic {
            return Err(BadModel::NotAModel);
        }
        let found = file.u32().map_err(|_| BadModel::Damaged)?;
        if found != version {
            return Err(BadModel::Version(found));
        }
        let length = file.length().map_err(|_| BadModel::Damaged)?;
        let sum = file.u32().map_err(|_| BadModel::Damaged)?;
        if file.0.len() != length || crc32fast::hash(file.0) != sum {
            return Err(BadModel::Damaged);
        }
        Ok(file)
    }

    pub(crate) fn take(&mut self, length: usize) -> Result<&'b [u8], BadModel> {
        let (head, tail) = self
            .0
            .split_at_checked(length)
            .ok_or(BadModel::Invalid("it ends too early"))?;
        self.0 = tail;
        Ok(head)
    }

    pub(crate) fn u16(&mut self) -> Result<u16, BadModel> {
        self.array().map(u16::from_le_bytes)
    }

    pub(crate) fn u32(&mut self) -> Result<u32, BadModel> {
        self.array().map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self) -> Result<u64, BadModel> {
        self.array().map(u64::from_le_bytes)
    }

    /// A number that can be computed with.
    pub(crate) fn f32(&mut self) -> Result<f32, BadModel> {
        let number = f32::from_bits(self.u32()?);
        if number.is_finite() {
            Ok(number)
        } else {
            Err(BadModel::Invalid("a number is not finite"))
        }
    }

    pub(crate) fn length(&mut self) -> Result<usize, BadModel> {
        let length = usize::try_from(self.u32()?);
        length.map_err(|_| BadModel::Invalid("a list is too long"))
    }

    /// A length of a list whose items take at least `bytes` each, and of which at most `most` count.
    pub(crate) fn length_of(&mut self, bytes: usize, most: usize) -> Result<usize, BadModel> {
        let length = self.length()?;
        if length > most || length.saturating_mul(bytes) > self.0.len() {
            return Err(BadModel::Invalid("a list is too long"));
        }
        Ok(length)
    }

    /// What [`Writer::rising`] wrote.
    pub(crate) fn rising(&mut self, most: usize) -> Result<Vec<u32>, BadModel> {
        let length = self.length_of(1, most)?;
        let mut numbers = Vec::with_capacity(length);
        let mut before = 0_u32;
        for at in 0..length {
            let mut distance = 0_u32;
            for shift in [0, 7, 14, 21, 28] {
                let [byte] = self.array()?;
                distance |= u32::from(byte & 0x7f).wrapping_shl(shift);
                if byte & 0x80 == 0 {
                    break;
                }
            }
            let next = before.checked_add(distance);
            let next = next.filter(|next| at == 0 || *next > before);
            before = next.ok_or(BadModel::Invalid("a list is not in order"))?;
            numbers.push(before);
        }
        Ok(numbers)
    }

    /// Nothing is left.
    pub(crate) fn end(self) -> Result<(), BadModel> {
        if self.0.is_empty() {
            Ok(())
        } else {
            Err(BadModel::Invalid("it goes on after its end"))
        }
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], BadModel> {
        let bytes = self.take(N)?;
        bytes.try_into().map_err(|_| BadModel::Damaged)
    }
}
