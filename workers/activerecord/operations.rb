# frozen_string_literal: true

require_relative "calls"

# The operations of a Rails application, as the published benchmark
# sqlite-on-rails names them. Each prepares what it needs, does the timed work,
# and returns what it did, as rows that are compared with the plan's.
class Operations < Calls
  class Party < ActiveRecord::Base
    has_many :people
    has_many :other_people, class_name: "Operations::Person", foreign_key: :other_party_id
  end

  class Person < ActiveRecord::Base
    belongs_to :party, optional: true
    belongs_to :other_party, class_name: "Operations::Party", optional: true
  end

  class JsonParty < ActiveRecord::Base
  end

  def self.unshared = names.select { |name| name.include?("threading") }

  # As published: no indexes on the foreign keys, and no constraints.
  def self.create_tables
    connection = ActiveRecord::Base.connection
    connection.create_table(:parties, if_not_exists: true) { |t| t.string :theme }
    connection.create_table(:people, if_not_exists: true) do |t|
      t.integer :party_id
      t.integer :other_party_id
      t.string :name
      t.string :address
    end
    connection.create_table(:json_parties, if_not_exists: true) { |t| t.json :stuff }
  end

  def model_object_creation
    timed { (50 * n).times { Party.create(theme: "Halloween") } }
    Party.group(:theme).count.to_a
  end

  def model_object_select
    parties(100)
    loaded = timed { Party.all.to_a }
    loaded.group_by(&:theme).transform_values(&:size).to_a
  end

  def model_object_select_by_pk
    ids = parties(10)
    found = timed { ids.map { |id| Party.find(id) } }
    [[found.size, found.map(&:id) == ids]]
  end

  def model_object_select_by_attr
    ids = parties(10)
    found = timed { ids.map { |id| Party.find_by(id: id) } }
    [[found.size, found.map(&:id) == ids]]
  end

  def model_object_select_and_save
    parties(50)
    timed { Party.all.each { |party| party.update(theme: "#{party.theme}1") } }
    Party.group(:theme).count.to_a
  end

  def model_object_destruction
    parties(100)
    loaded = Party.all.to_a
    timed { loaded.each(&:destroy) }
    [[loaded.count(&:destroyed?), Party.count]]
  end

  def model_object_and_associated_object_creation
    timed do
      (20 * n).times do
        party = Party.create(theme: "X-mas")
        Person.create(party: party, name: "Test_#{party.id}")
      end
    end
    [[Party.where(theme: "X-mas").count, Person.joins(:party).to_a.count { |person| person.name == "Test_#{person.party_id}" }]]
  end

  def eager_loading_query_per_association_with_1_to_1_records
    people(parties(20), 1)
    loaded = timed { Party.preload(:people).map { |party| party.people.map(&:id) } }
    counted(loaded)
  end

  def eager_loading_single_query_with_1_to_1_records
    people(parties(20), 1)
    loaded = timed { Party.eager_load(:people).map { |party| party.people.map(&:id) } }
    counted(loaded)
  end

  def eager_loading_query_per_association_with_1_to_n_records
    people(parties(1), n)
    loaded = timed { Party.preload(:people).map { |party| party.people.map(&:id) } }
    counted(loaded)
  end

  def eager_loading_single_query_with_1_to_n_records
    people(parties(1), n)
    loaded = timed { Party.eager_load(:people).map { |party| party.people.map(&:id) } }
    counted(loaded)
  end

  def eager_loading_query_per_association_with_1_to_n_to_n_records
    ids = parties(1)
    people(ids, n)
    people(ids, n, :other_party_id)
    loaded = timed { Party.preload(:people, :other_people).map { |party| party.people.map(&:id) + party.other_people.map(&:id) } }
    counted(loaded)
  end

  def eager_loading_single_query_with_1_to_n_to_n_records
    ids = parties(1)
    people(ids, n)
    people(ids, n, :other_party_id)
    loaded = timed { Party.eager_load(:people, :other_people).map { |party| party.people.map(&:id) + party.other_people.map(&:id) } }
    counted(loaded)
  end

  def lazy_loading_with_1_to_1_records
    people(parties(20), 1)
    loaded = timed { Party.all.map { |party| party.people.map(&:id) } }
    counted(loaded)
  end

  def lazy_loading_with_1_to_n_records
    people(parties(1), n)
    loaded = timed { Party.all.map { |party| party.people.map(&:id) } }
    counted(loaded)
  end

  def model_object_select_json_nested
    ids = json_parties(10)
    found = timed { ids.map { JsonParty.find_by(driver.json_select) } }
    [[found.size, found.compact.count { |party| party.stuff["pumpkin"] == 1 }]]
  end

  def model_object_update_json_nested
    ids = json_parties(10)
    timed { ids.each { |id| JsonParty.where(id: id).update_all(driver.json_update) } }
    pumpkins
  end

  def model_object_update_json
    ids = json_parties(10)
    timed { ids.each { |id| JsonParty.where(id: id).update(stuff: { pumpkin: 2, candy: 1 }) } }
    pumpkins
  end

  def light_threading = threading(Math.sqrt(n).round) { |thread| thread.join }

  def light_threading_parallel = threading(Math.sqrt(n).round)

  def heavy_threading = threading(n) { |thread| thread.join }

  def heavy_threading_parallel = threading(n)

  private

  def clear = Party.transaction { [Party, Person, JsonParty].each(&:delete_all) }

  def in_transaction(&body) = Party.transaction(&body)

  # threading has each thread insert n parties, and then n times take the first
  # one, change it, and destroy it. With a block that joins each thread as soon
  # as it is started, they run one after the other.
  def threading(count)
    Party.clear_active_connections! # the first thread may need it
    done = timed do
      threads = Array.new(count) do
        Thread.new { Party.connection_pool.with_connection { |connection| celebrate(connection) } }.tap { |thread| yield thread if block_given? }
      end
      threads.map(&:value)
    end
    ids, saved, destroyed = done.transpose
    [[ids.flatten.uniq.size, saved.sum, destroyed.sum]]
  end

  def celebrate(connection)
    ids = Array.new(n) { connection.insert("INSERT INTO parties (theme) VALUES ('Halloween')") }
    parties = Array.new(n) do
      party = Party.first
      party.theme = "Christmas"
      [party.save, party.destroy.destroyed?]
    end
    [ids, parties.count(&:first), parties.count(&:last)]
  end

  # parties makes so many times n of them, and answers their ids.
  def parties(times)
    Party.insert_all!(Array.new(times * n) { { theme: "Halloween" } })
    Party.order(:id).ids
  end

  def people(party_ids, each, key = :party_id)
    Person.insert_all!(party_ids.flat_map { |id| Array.new(each) { |i| { key => id, name: "Test_#{i}" } } })
  end

  def json_parties(times)
    JsonParty.insert_all!(Array.new(times * n) { { stuff: { pumpkin: 1, candy: 1 } } })
    JsonParty.order(:id).ids
  end

  # counted is how many parties there were, how many people, and how many of
  # them different ones.
  def counted(loaded) = [[loaded.size, loaded.sum(&:size), loaded.flatten.uniq.size]]

  def pumpkins = JsonParty.all.group_by { |party| party.stuff.values_at("pumpkin", "candy") }.map { |key, all| [*key, all.size] }
end
