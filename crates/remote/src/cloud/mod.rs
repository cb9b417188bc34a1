//! Objects in S3, Google Cloud Storage and Azure, by the crate `object_store`: it knows their protocols, their errors and where credentials come from.
//! Connections are those of all other requests of this program (`transport.rs`), so that nothing here needs a runtime or threads.

mod drive;
mod transport;

use crate::error::RemoteError;
use crate::object::ObjectStore;
use crate::web::WebOptions;
use drive::drive;
use futures_util::TryStreamExt;
use lode_base::cancel;
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::path::Path;
use object_store::{
    Error, GetOptions, GetRange, MultipartUpload, ObjectStore as Remote, ObjectStoreExt, PutMode, PutPayload,
    RetryConfig,
};
use std::collections::BTreeSet;
use std::io::{self, Read};
use std::sync::OnceLock;
use std::time::Duration;
use transport::Transport;

/// A longer object is written in parts of this size, of which there may be 10,000.
const PART_BYTES: usize = 16 << 20;
/// An object of no meaning, by which it is found out whether a store keeps its promise.
const PROBE: &str = "uploads/probe";
/// Where two write at once, a store may ask both to try again.
const CONFLICTS_MAX: usize = 10;
/// Parts of the addresses at which machines in a cloud find their credentials, asked where the environment has none.
const MACHINE_CREDENTIALS: [&str; 4] =
    ["/latest/api/token", "/latest/meta-data/", "/computeMetadata/", "/metadata/identity/"];

/// Objects below a prefix of a bucket or container.
#[derive(Debug)]
pub struct CloudStore {
    remote: Box<dyn Remote>,
    prefix: Path,
    name: String,
    /// Whether the store was seen to refuse an object that is there.
    refuses: OnceLock<()>,
}

impl CloudStore {
    /// The objects below an address, `s3://bucket/prefix`, `gs://bucket/prefix` or `az://container/prefix`, with what the environment says of credentials, regions
    /// and endpoints (`AWS_...`, `GOOGLE_...`, `AZURE_...`).
    ///
    /// # Errors
    /// Where the address or a variable cannot be, or certificates cannot be read.
    pub fn new(
        address: &str,
        variables: impl Iterator<Item = (String, String)>,
        web: WebOptions,
    ) -> Result<Self, RemoteError> {
        let wrong = |what: String| RemoteError::Address { address: address.to_owned(), what };
        let (scheme, rest) = address.split_once("://").unwrap_or_default();
        let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        if bucket.is_empty() {
            return Err(wrong("there is no bucket in it".to_owned()));
        }
        let prefix = Path::parse(prefix.trim_matches('/')).map_err(|error| wrong(error.to_string()))?;
        let root = format!("{scheme}://{bucket}");
        let transport = Transport::new(web.silence_max).map_err(wrong)?;
        let remote = build(&root, variables, transport).map_err(|error| wrong(error.to_string()))?;
        Ok(Self { remote, prefix, name: address.trim_end_matches('/').to_owned(), refuses: OnceLock::new() })
    }

    fn path(&self, key: &str) -> Path {
        key.split('/').filter(|part| !part.is_empty()).fold(self.prefix.clone(), |path, part| path.join(part))
    }

    fn failed(&self, key: &str) -> impl Fn(Error) -> RemoteError {
        let object = self.object(key);
        move |error| told(&object, error)
    }

    fn put_now(&self, key: &str, bytes: Vec<u8>, mode: PutMode) -> Result<(), Error> {
        drive(self.remote.put_opts(&self.path(key), PutPayload::from(bytes), mode.into())).map(drop)
    }

    /// Of a store that ignores the condition two publishers could win at once.
    fn make_sure_it_refuses(&self) -> Result<(), RemoteError> {
        if self.refuses.get().is_some() {
            return Ok(());
        }
        for _ in 0..2 {
            match self.put_now(PROBE, b"probe".to_vec(), PutMode::Create) {
                Err(Error::AlreadyExists { .. }) => {
                    self.refuses.get_or_init(|| ());
                    return Ok(());
                }
                done => done.map_err(self.failed(PROBE))?,
            }
        }
        let what = "this store writes over objects also where it is asked not to (If-None-Match), so that of two who publish at once both could win: \
                    nothing is published there";
        Err(RemoteError::Address { address: self.name.clone(), what: what.to_owned() })
    }

    fn put_parts(
        &self,
        upload: &mut dyn MultipartUpload,
        first: Vec<u8>,
        body: &mut dyn Read,
    ) -> Result<(), RemoteError> {
        let failed = |error| told(&self.name, error);
        drive(upload.put_part(PutPayload::from(first))).map_err(failed)?;
        loop {
            let part = read_part(body).map_err(RemoteError::io(self.name.clone()))?;
            if part.is_empty() {
                break;
            }
            drive(upload.put_part(PutPayload::from(part))).map_err(failed)?;
        }
        drive(upload.complete()).map(drop).map_err(failed)
    }
}

fn build(
    root: &str,
    variables: impl Iterator<Item = (String, String)>,
    transport: Transport,
) -> Result<Box<dyn Remote>, Error> {
    // Whoever asks tries again.
    let retry = RetryConfig { max_retries: 0, retry_timeout: Duration::ZERO, ..RetryConfig::default() };
    let set = variables.map(|(name, value)| (name.to_ascii_lowercase(), value));
    match root.split("://").next().unwrap_or_default() {
        "gs" => {
            let named = set.filter(|(name, _)| name.starts_with("google_"));
            let builder =
                named.fold(GoogleCloudStorageBuilder::new(), |builder, (name, value)| match name
                    .parse::<GoogleConfigKey>(
                ) {
                    Ok(key) => builder.with_config(key, value),
                    Err(_) => builder,
                });
            Ok(Box::new(builder.with_url(root).with_retry(retry).with_http_connector(transport).build()?))
        }
        "s3" | "s3a" => {
            let named = set.filter(|(name, _)| name.starts_with("aws_"));
            let builder = named.fold(AmazonS3Builder::new(), |builder, (name, value)| match name
                .parse::<AmazonS3ConfigKey>(
            ) {
                Ok(key) => builder.with_config(key, value),
                Err(_) => builder,
            });
            Ok(Box::new(builder.with_url(root).with_retry(retry).with_http_connector(transport).build()?))
        }
        _ => {
            let named = set.filter(|(name, _)| name.starts_with("azure_"));
            let builder = named.fold(MicrosoftAzureBuilder::new(), |builder, (name, value)| {
                match name.parse::<AzureConfigKey>() {
                    Ok(key) => builder.with_config(key, value),
                    Err(_) => builder,
                }
            });
            Ok(Box::new(builder.with_url(root).with_retry(retry).with_http_connector(transport).build()?))
        }
    }
}

fn read_part(body: &mut dyn Read) -> io::Result<Vec<u8>> {
    let mut part = Vec::new();
    body.take(PART_BYTES as u64).read_to_end(&mut part)?;
    Ok(part)
}

/// An error of the other crate as one of ours.
fn told(object: &str, error: Error) -> RemoteError {
    // What else went wrong then is of no interest.
    if let Some(Err(cancelled)) = cancel::current().map(|token| token.check()) {
        return cancelled.into();
    }
    // Stores answer with several lines of XML.
    let text = error.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
    let asks_machine = |text: &str| MACHINE_CREDENTIALS.iter().any(|place| text.contains(place));
    let text = match &error {
        Error::Generic { .. } if asks_machine(&text) => {
            format!(
                "there are no credentials in the environment, nor were any to be had from this machine: {text}"
            )
        }
        _ => text,
    };
    let kind = match &error {
        Error::NotFound { .. } => io::ErrorKind::NotFound,
        Error::PermissionDenied { .. } | Error::Unauthenticated { .. } => io::ErrorKind::PermissionDenied,
        Error::NotSupported { .. } | Error::NotImplemented { .. } | Error::UnknownConfigurationKey { .. } => {
            io::ErrorKind::Unsupported
        }
        Error::InvalidPath { .. } => io::ErrorKind::InvalidInput,
        _ => io::ErrorKind::Other,
    };
    RemoteError::io(object)(io::Error::new(kind, text))
}

impl ObjectStore for CloudStore {
    fn name(&self) -> &str {
        &self.name
    }

    fn get(&self, key: &str, bytes_max: u64) -> Result<Vec<u8>, RemoteError> {
        // No more than one byte too many, whatever is there.
        let range = Some(GetRange::Bounded(0..bytes_max.saturating_add(1)));
        let options = GetOptions { range, ..GetOptions::default() };
        let result = drive(self.remote.get_opts(&self.path(key), options)).map_err(self.failed(key))?;
        let bytes = drive(result.bytes()).map_err(self.failed(key))?;
        if bytes.len() as u64 > bytes_max {
            return Err(RemoteError::damaged(self.object(key), 0, "longer than such an object can be"));
        }
        Ok(bytes.into())
    }

    fn get_range(&self, key: &str, offset: u64, buf: &mut [u8]) -> Result<(), RemoteError> {
        if buf.is_empty() {
            return Ok(());
        }
        let range = offset..offset + buf.len() as u64;
        let bytes = drive(self.remote.get_range(&self.path(key), range)).map_err(self.failed(key))?;
        if bytes.len() != buf.len() {
            let end = offset + bytes.len() as u64;
            return Err(RemoteError::damaged(self.object(key), end, "the object ends here, too early"));
        }
        buf.copy_from_slice(&bytes);
        Ok(())
    }

    fn list(&self, folder: &str) -> Result<Option<Vec<String>>, RemoteError> {
        let path = self.path(folder);
        let listed = drive(self.remote.list_with_delimiter(Some(&path))).map_err(self.failed(folder))?;
        let objects = listed.objects.iter().map(|object| &object.location);
        let last = |path: &Path| path.filename().map(str::to_owned);
        let names: BTreeSet<String> = objects.chain(&listed.common_prefixes).filter_map(last).collect();
        Ok(Some(names.into_iter().collect()))
    }

    fn size(&self, key: &str) -> Result<Option<u64>, RemoteError> {
        match drive(self.remote.head(&self.path(key))) {
            Ok(found) => Ok(Some(found.size)),
            Err(Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(self.failed(key)(error)),
        }
    }

    fn put(&self, key: &str, body: &mut dyn Read) -> Result<(), RemoteError> {
        let first = read_part(body).map_err(RemoteError::io(self.object(key)))?;
        if first.len() < PART_BYTES {
            return self.put_now(key, first, PutMode::Overwrite).map_err(self.failed(key));
        }
        let mut upload = drive(self.remote.put_multipart(&self.path(key))).map_err(self.failed(key))?;
        let done = self.put_parts(&mut *upload, first, body);
        if done.is_err() {
            // Else the parts stay, seen by nobody and paid for.
            let _ = drive(upload.abort());
        }
        done
    }

    fn put_if_absent(&self, key: &str, bytes: &[u8]) -> Result<bool, RemoteError> {
        self.make_sure_it_refuses()?;
        let mut conflicts = 0;
        loop {
            let error = match self.put_now(key, bytes.to_vec(), PutMode::Create) {
                Ok(()) => return Ok(true),
                Err(error) => error,
            };
            // What failed on its way may have arrived. What was refused has not, even if the same is there: two may write the same. But of two at once both may
            // be refused, and nothing is there then.
            let found = self.get(key, bytes.len() as u64);
            let is_refusal = matches!(error, Error::AlreadyExists { .. } | Error::Precondition { .. });
            match found {
                Ok(found) if found == bytes => return Ok(!is_refusal),
                Ok(_) | Err(RemoteError::Damaged { .. }) => return Ok(false),
                Err(RemoteError::Missing { .. }) if is_refusal && conflicts < CONFLICTS_MAX => conflicts += 1,
                _ => {
                    return Err(match told(&self.object(key), error) {
                        RemoteError::Io { object, source } if source.kind() == io::ErrorKind::Other => {
                            RemoteError::InDoubt { object, source }
                        }
                        error => error,
                    });
                }
            }
        }
    }

    fn remove(&self, key: &str) -> Result<(), RemoteError> {
        let path = self.path(key);
        let below: Vec<_> = drive(self.remote.list(Some(&path)).try_collect()).map_err(self.failed(key))?;
        for path in below.iter().map(|object| &object.location).chain([&path]) {
            match drive(self.remote.delete(path)) {
                Ok(()) | Err(Error::NotFound { .. }) => {}
                Err(error) => return Err(self.failed(key)(error)),
            }
        }
        Ok(())
    }
}
