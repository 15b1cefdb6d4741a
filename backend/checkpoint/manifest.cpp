#include "backend/checkpoint/manifest.h"

#include <rapidjson/document.h>
#include <rapidjson/prettywriter.h>
#include <rapidjson/stringbuffer.h>

#include <fstream>
#include <sstream>

namespace rankscope::backend {

using tracing::Error;
using tracing::Result;

namespace {

constexpr int kSchema = 1;

bool hasText(const rapidjson::Value& object, const char* key)
{
    return object.HasMember(key) && object[key].IsString();
}

bool readShard(const rapidjson::Value& object, Manifest::Shard& shard)
{
    if (!object.IsObject() || !hasText(object, "file") || !object.HasMember("bytes") || !object["bytes"].IsUint64()
        || !object.HasMember("crc32") || !object["crc32"].IsUint())
        return false;
    shard = { object["file"].GetString(), { object["bytes"].GetUint64(), object["crc32"].GetUint() } };
    return true;
}

bool readFields(const rapidjson::Value& object, Manifest& manifest)
{
    if (!object.HasMember("step") || !object["step"].IsInt64() || !object.HasMember("attempt")
        || !object["attempt"].IsInt() || !hasText(object, "identity") || !hasText(object, "layout")
        || !object.HasMember("shards") || !object["shards"].IsArray())
        return false;
    manifest.step = object["step"].GetInt64();
    manifest.attempt = object["attempt"].GetInt();
    manifest.identity = object["identity"].GetString();
    manifest.layout = object["layout"].GetString();
    for (const auto& entry : object["shards"].GetArray()) {
        Manifest::Shard shard;
        if (!readShard(entry, shard))
            return false;
        manifest.shards.push_back(std::move(shard));
    }
    return manifest.step > 0 && !manifest.shards.empty();
}

} // namespace

std::string manifestJson(const Manifest& manifest)
{
    rapidjson::StringBuffer buffer;
    rapidjson::PrettyWriter json(buffer);
    const auto text = [&](const char* key, const std::string& value) {
        json.Key(key);
        json.String(value.c_str());
    };
    json.StartObject();
    json.Key("schema");
    json.Int(kSchema);
    json.Key("step");
    json.Int64(manifest.step);
    json.Key("attempt");
    json.Int(manifest.attempt);
    text("identity", manifest.identity);
    text("layout", manifest.layout);
    json.Key("shards");
    json.StartArray();
    for (const Manifest::Shard& shard : manifest.shards) {
        json.StartObject();
        text("file", shard.file);
        json.Key("bytes");
        json.Uint64(shard.sum.bytes);
        json.Key("crc32");
        json.Uint(shard.sum.checksum);
        json.EndObject();
    }
    json.EndArray();
    json.EndObject();
    return std::string(buffer.GetString()) + "\n";
}

Result<Manifest> readManifest(const std::string& path)
{
    std::ifstream file(path);
    std::stringstream text;
    if (!file || !(text << file.rdbuf()))
        return Error(path + ": cannot be read");
    rapidjson::Document document;
    document.Parse(text.str().c_str());
    if (document.HasParseError() || !document.IsObject() || !document.HasMember("schema")
        || !document["schema"].IsInt())
        return Error(path + ": no manifest of a checkpoint");
    if (document["schema"].GetInt() > kSchema)
        return Error(path + ": written by a newer version; update Rankscope");
    Manifest manifest;
    if (!readFields(document, manifest))
        return Error(path + ": a field is missing or makes no sense");
    return manifest;
}

} // namespace rankscope::backend
