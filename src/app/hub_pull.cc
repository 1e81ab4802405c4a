#include "app/hub_pull.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "app/file_hash.h"
#include "app/glyphs.h"
#include "app/interruptible.h"
#include "app/sweep_progress.h"
#include "app/terminal.h"
#include "base/atomic_file.h"
#include "base/check.h"
#include "weights/lora.h"

namespace punt {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr int kFirstPause = 500;  // milliseconds, between attempts
constexpr int kLookAtLock = 100;

[[noreturn]] void FailWith(const fs::path& path, int error) {
  throw Error(ErrorCode::kFailed, fmt::format("cannot write {}: {}", path.string(), std::strerror(error)));
}

void MakeFolder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) FailWith(folder, error.value());
}

std::string Size(std::int64_t bytes) {
  const auto count = static_cast<double>(bytes);
  if (count >= 1e9) return fmt::format("{:.2f} GB", count / 1e9);
  return count >= 1e6 ? fmt::format("{:.1f} MB", count / 1e6) : fmt::format("{} bytes", bytes);
}

/// A line on a terminal; elsewhere one for every tenth.
class PullStatus {
 public:
  PullStatus(std::string name, std::int64_t total) : name_(std::move(name)), total_(total) {}

  void SetDone(std::int64_t done) { done_ = first_ = done; }

  void Show(const std::string& file, std::int64_t done) {
    done_ = done;
    const double share = static_cast<double>(done_) / static_cast<double>(std::max<std::int64_t>(total_, 1));
    if (!is_live_) {
      const int tenth = static_cast<int>(10 * share);
      if (tenth > shown_ && total_ >= kWorthALine)
        fmt::print(stderr, "punt: pulling {}: {} % of {}\n", name_, 10 * tenth, Size(total_));
      shown_ = std::max(shown_, tenth);
      return;
    }
    line_.Show([&](int columns) {
      const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
      const double rate = static_cast<double>(done_ - first_) / std::max(seconds, 0.1);
      const std::string text = fmt::format("{} {:3.0f} % of {}, {:.1f} MB/s  {}", ProgressBar(share, kBar), 100 * share,
                                           Size(total_), rate / 1e6, SafeText(file));
      return FitToWidth(text, columns);
    });
  }

  void Clear() { line_.Clear(); }
  std::int64_t done() const { return done_; }
  std::int64_t total() const { return total_; }

 private:
  static constexpr int kBar = 20;
  static constexpr std::int64_t kWorthALine = 10'000'000;  // bytes
  std::string name_;
  std::int64_t total_;
  std::int64_t done_ = 0;
  std::int64_t first_ = 0;
  int shown_ = 0;
  bool is_live_ = CanMoveCursor(stderr);
  StatusLine line_;
  Clock::time_point start_ = Clock::now();
};

[[noreturn]] void StopPull(const std::string& name) {
  throw Interrupted{fmt::format("while {} was pulled; the same command goes on from there", name)};
}

/// The lock that the hub's own library takes for a file.
class FileLock {
 public:
  FileLock(const fs::path& path, const std::string& name, PullStatus& status) {
    MakeFolder(path.parent_path());
    descriptor_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (descriptor_ < 0) FailWith(path, errno);
    for (bool is_first = true; ::flock(descriptor_, LOCK_EX | LOCK_NB) != 0; is_first = false) {
      if (errno != EWOULDBLOCK && errno != EINTR) {
        const int error = errno;
        ::close(descriptor_);
        FailWith(path, error);
      }
      if (is_first) {
        status.Clear();
        PrintMessage("punt: another process is fetching this file; waiting for it\n");
      }
      if (WasInterrupted()) {
        ::close(descriptor_);
        StopPull(name);
      }
      Pause(kLookAtLock);
    }
  }
  ~FileLock() { ::close(descriptor_); }
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  int descriptor_ = -1;
};

std::optional<std::int64_t> SizeOf(const fs::path& file) {
  std::error_code error;
  const auto size = fs::file_size(file, error);
  return error ? std::nullopt : std::optional(static_cast<std::int64_t>(size));
}

FileHash HashFor(const HubFile& file) { return file.has_sha256() ? FileHash::Sha256() : FileHash::GitBlob(file.size); }

/// A file that grows, and the hash of what it holds.
class IncompleteFile {
 public:
  IncompleteFile(fs::path path, const HubFile& file) : path_(std::move(path)), file_(file), hash_(HashFor(file)) {
    descriptor_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (descriptor_ < 0) FailWith(path_, errno);
    ReadWhatIsThere();
    if (size_ > file_.size) StartOver();
  }
  ~IncompleteFile() { ::close(descriptor_); }
  IncompleteFile(const IncompleteFile&) = delete;
  IncompleteFile& operator=(const IncompleteFile&) = delete;

  void Write(std::int64_t offset, std::string_view bytes) {
    if (offset == 0 && size_ > 0) StartOver();
    Check(offset == size_, "bytes that do not follow each other");
    if (size_ + static_cast<std::int64_t>(bytes.size()) > file_.size) {
      throw Error(ErrorCode::kFailed, fmt::format("'{}': the server sends more than the {} bytes that it announced",
                                                  file_.name, file_.size));
    }
    hash_.Add(bytes);
    while (!bytes.empty()) {
      const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) FailWith(path_, errno);
      size_ += written;
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
  }

  void StartOver() {
    if (::ftruncate(descriptor_, 0) != 0 || ::lseek(descriptor_, 0, SEEK_SET) != 0) FailWith(path_, errno);
    size_ = 0;
    hash_ = HashFor(file_);
  }

  /// Becomes `blob` if the hash is right, and is gone if it is not.
  void Finish(const fs::path& blob) {
    const std::string hash = hash_.Finish();
    if (hash != file_.hash) {
      ::unlink(path_.c_str());
      throw Error(ErrorCode::kFailed, fmt::format("'{}' came damaged: its {} is {}, the hub says {}", file_.name,
                                                  file_.has_sha256() ? "SHA-256" : "SHA-1", hash, file_.hash));
    }
    if (::fsync(descriptor_) != 0 || ::rename(path_.c_str(), blob.c_str()) != 0) FailWith(blob, errno);
  }

  std::int64_t size() const { return size_; }

 private:
  void ReadWhatIsThere() {
    std::vector<char> piece(1 << 20);
    while (true) {
      const ssize_t read = ::read(descriptor_, piece.data(), piece.size());
      if (read < 0 && errno == EINTR) continue;
      if (read < 0) FailWith(path_, errno);
      if (read == 0) return;
      hash_.Add({piece.data(), static_cast<std::size_t>(read)});
      size_ += read;
    }
  }

  fs::path path_;
  const HubFile& file_;
  FileHash hash_;
  int descriptor_ = -1;
  std::int64_t size_ = 0;
};

/// One pull: a plan that is carried out.
class Puller {
 public:
  explicit Puller(const HubName& name)
      : name_(name), client_(HubEndpointFromEnvironment()), repo_(HubRepoFolder(name)) {}

  PullResult Plan() {
    HubListing listing = client_.List(name_);
    std::vector<std::string> names;
    for (const HubFile& file : listing.files) names.push_back(file.name);
    const HubChoice choice = ChooseHubFiles(names, name_);
    PullResult result{.commit = listing.commit};
    result.path = repo_ / "snapshots" / listing.commit / choice.main;
    if (choice.main.empty()) result.path = result.path.parent_path();
    for (const std::string& chosen : choice.files) {
      const auto it = std::find_if(listing.files.begin(), listing.files.end(),
                                   [&](const HubFile& file) { return file.name == chosen; });
      if (it->hash.empty() || it->size < 0) client_.Describe(name_, listing.commit, *it);
      if (it->size < 0) {
        throw Error(ErrorCode::kFailed, fmt::format("{}: the hub does not say how large '{}' is", name_.repo, chosen));
      }
      result.files.push_back({.file = *it, .was_there = SizeOf(BlobOf(*it)) == it->size});
    }
    return result;
  }

  PullResult Run() {
    PullResult result = Plan();
    MakeFolder(repo_ / "blobs");
    PullStatus status(name_.text(), result.bytes());
    RequireSpace(result);
    std::int64_t before = 0;
    for (const PulledFile& file : result.files) before += file.was_there ? file.file.size : 0;
    status.SetDone(before);
    for (PulledFile& file : result.files) {
      if (!file.was_there) result.fetched += Fetch(file, result.commit, status);
      Link(file.file, result.commit);
    }
    status.Clear();
    // The name stands for this commit only now that all of it is there.
    if (name_.revision != result.commit) {
      MakeFolder(repo_ / "refs");
      WriteFileAtomically(repo_ / "refs" / name_.revision, result.commit);
    }
    return result;
  }

 private:
  fs::path BlobOf(const HubFile& file) const { return repo_ / "blobs" / file.hash; }
  fs::path IncompleteOf(const HubFile& file) const { return repo_ / "blobs" / (file.hash + ".incomplete"); }

  void RequireSpace(const PullResult& result) const {
    std::int64_t needed = 0;
    for (const PulledFile& file : result.files) {
      if (!file.was_there)
        needed += file.file.size - std::min(SizeOf(IncompleteOf(file.file)).value_or(0), file.file.size);
    }
    std::error_code error;
    const fs::space_info space = fs::space(repo_, error);
    if (error || static_cast<std::uintmax_t>(needed) <= space.available) return;
    throw Error(ErrorCode::kFailed,
                fmt::format("{}: {} are missing, and {} has room for {}", name_.text(), Size(needed), repo_.string(),
                            Size(static_cast<std::int64_t>(space.available))));
  }

  /// Returns how many bytes came.
  std::int64_t Fetch(PulledFile& pulled, const std::string& commit, PullStatus& status) {
    const HubFile& file = pulled.file;
    const FileLock lock(repo_.parent_path() / ".locks" / repo_.filename() / (file.hash + ".lock"), name_.text(),
                        status);
    const std::int64_t before = status.done();
    if (SizeOf(BlobOf(file)) == file.size) {  // by now
      pulled.was_there = true;
      status.Show(file.name, before + file.size);
      return 0;
    }
    IncompleteFile incomplete(IncompleteOf(file), file);
    std::int64_t came = 0;
    const HubClient::Sink sink = [&](std::int64_t offset, std::string_view bytes) {
      incomplete.Write(offset, bytes);
      came += static_cast<std::int64_t>(bytes.size());
      status.Show(file.name, before + incomplete.size());
    };
    int pause = kFirstPause;
    for (int idle = 0; incomplete.size() < file.size || file.size == 0;) {
      const std::int64_t had = incomplete.size();
      const HubClient::Transfer transfer = client_.Fetch(name_, commit, file, had, sink);
      if (WasInterrupted()) StopPull(name_.text());
      if (transfer.is_unsatisfied) incomplete.StartOver();
      if (file.size == 0 && transfer.is_complete) break;
      if (incomplete.size() >= file.size) break;
      idle = incomplete.size() > had ? 0 : idle + 1;
      if (idle == 0) pause = kFirstPause;
      if (idle >= client_.endpoint().attempts) {
        const std::string problem = transfer.is_complete ? "it ends early" : transfer.problem;
        throw Error(
            ErrorCode::kFailed,
            fmt::format("'{}' of {} does not come, {} of {} bytes are there: {}; the same command goes on from there",
                        file.name, name_.repo, incomplete.size(), file.size, problem));
      }
      Pause(pause);
      pause *= 2;
    }
    incomplete.Finish(BlobOf(file));
    status.Show(file.name, before + file.size);
    return came;
  }

  /// snapshots/COMMIT/NAME -> ../../blobs/HASH
  void Link(const HubFile& file, const std::string& commit) const {
    const fs::path link = repo_ / "snapshots" / commit / file.name;
    MakeFolder(link.parent_path());
    fs::path target("../..");
    for (const char c : file.name) {
      if (c == '/') target /= "..";
    }
    target = target / "blobs" / file.hash;
    std::error_code error;
    if (fs::is_symlink(link, error) && fs::read_symlink(link, error) == target) return;
    fs::path made = link;
    made += fmt::format(".link-{}", ::getpid());
    fs::remove(made, error);
    fs::create_symlink(target, made, error);
    if (!error) fs::rename(made, link, error);
    if (error) FailWith(link, error.value());
  }

  HubName name_;
  HubClient client_;
  fs::path repo_;
};

void RequireOnline(const HubName& name) {
  const char* offline = std::getenv("HF_HUB_OFFLINE");
  const std::string_view value = offline == nullptr ? "" : offline;
  if (value == "1" || value == "ON" || value == "YES" || value == "TRUE" || value == "true") {
    BadInput("{}: the hub is not asked, because HF_HUB_OFFLINE is set", name.text());
  }
}

}  // namespace

std::int64_t PullResult::bytes() const {
  std::int64_t sum = 0;
  for (const PulledFile& file : files) sum += file.file.size;
  return sum;
}

PullResult PlanPull(const HubName& name) {
  RequireOnline(name);
  return Puller(name).Plan();
}

PullResult PullModel(const HubName& name) {
  RequireOnline(name);
  return Puller(name).Run();
}

void PullIfMissing(const std::string& model, std::span<const std::string> adapters) {
  if (IsHubName(model)) {
    const HubName name = ParseHubName(model);
    if (!FindInHubCache(name)) PullModel(name);
  }
  for (const std::string& adapter : adapters) PullIfMissing(ParseLoraName(adapter).path);
}

}  // namespace punt
